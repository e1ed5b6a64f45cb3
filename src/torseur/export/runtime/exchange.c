/* -- for whoever integrates: rates, event indicators, and what happens at an event -------------------------------- */

#define SIDE 1e-10  /* indicators change their sign this far beyond the zero, so that it has been passed */
#define DRIFT 1e-8  /* loops, constraints and quaternions that are off by more are put right */
#define SOON 1e-9   /* instants closer than this to the time, as a share of it or s, are reached: importers round */

int STUDY_init(STUDY_state *s)
{
    start_clock(s);
    STUDY_happened(s);
    return s->status;
}

void STUDY_rate(STUDY_state *s, double *dx)
{
    f_rate(s, s->t, s->x, s->m, dx);
}

void STUDY_indicators(STUDY_state *s, double *g)
{
#if NG
    int k;
    f_events(s, s->t, s->x, s->m, g);
    for (k = 0; k < NG; ++k)
        g[k] += SIDE*s->sign[k];
#else
    (void)s;
    (void)g;
#endif
}

double STUDY_next_time(const STUDY_state *s)
{
    return next_instant(s);
}

int STUDY_drifted(STUDY_state *s)
{
#if CORRECTS
    double after[NX];
    int k;
    f_corrected(s, s->t, s->x, s->m, after);
    for (k = 0; k < NQ + NV; ++k)
        if (fabs(after[k] - s->x[k]) > DRIFT*(1.0 + fabs(s->x[k])))
            return 1;
#else
    (void)s;
#endif
    return 0;
}

#if NG
static int handle(STUDY_state *s, double t, int event, int rising, double *x, int first);

#endif
int STUDY_happened(STUDY_state *s)
{
    double before[NX], now = s->t;
    int k, broken, changed = 0;
    copy(before, s->x, NX);
#if CORRECTS
    if (STUDY_drifted(s)) {
        f_corrected(s, s->t, before, s->m, s->x);
        copy(before, s->x, NX);
        changed = 1;
    }
#endif
#if NG
    {
        double g[NG];
        int first = 1;
        f_events(s, s->t, s->x, s->m, g);
        for (k = 0; k < NG && !s->status; ++k)
            if (s->sign[k] != 0.0 && s->sign[k]*g[k] <= 0.0) {
                s->event_count += 1;
                s->last_event = k;
                s->last_event_time = s->t;
                handle(s, s->t, k, s->sign[k] < 0.0, s->x, first);
                first = 0;
            }
    }
#endif
    while (next_instant(s) <= now + SOON*larger(1.0, fabs(now)) && !s->status) {
        s->t = larger(next_instant(s), now);
        ticked(s, &broken);
    }
    s->t = now;
#if NG
    {
        double g[NG];
        f_events(s, s->t, s->x, s->m, g);
        for (k = 0; k < NG; ++k)
            s->sign[k] = k >= FIRST && k < FIRST + NSWITCHES ? 1.0 : g[k] != 0.0 ? sign_of(g[k]) : s->sign[k];
    }
#endif
    for (k = 0; k < NX; ++k)
        changed |= before[k] != s->x[k];
    return changed;
}
