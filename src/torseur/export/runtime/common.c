/* -- the clock, and what all runs share --------------------------------------------------------------------------- */

#define JUMP 1e-8 /* what a coordinate or speed changes by when what drives it jumps; less is rounding */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void copy(double *to, const double *from, int n)
{
    int k;
    for (k = 0; k < n; ++k)
        to[k] = from[k];
}

#if NG
static double sign_of(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
}

#endif
static double next_instant(const STUDY_state *s)
{
    double t = s->end;
    int k;
    if (s->next_break < s->breaks_count && s->breaks[s->next_break] < t)
        t = s->breaks[s->next_break];
    for (k = 0; k < NGROUPS; ++k)
        if (s->offsets[k] + s->ticks[k]*s->periods[k] < t)
            t = s->offsets[k] + s->ticks[k]*s->periods[k];
    if (s->next_change < NCHANGES && change_times[s->next_change] < t)
        t = change_times[s->next_change];
    return t;
}

static void prologues(STUDY_state *s);

static void change(STUDY_state *s, int first, int last, int stop)
{
    int k;
    for (k = first; k < last; ++k)
        s->p[change_places[k]] = change_values[k];
    prologues(s);
    if (stop && !s->status)
        s->status = STUDY_STOPPED;
}

/* Speeds follow at once what drives constraints; positions cannot. */
static int following(STUDY_state *s, double t, double *x)
{
#if DRIVEN
    double after[NX];
    int k, moved = 0;
    f_corrected(s, t, x, s->m, after);
    for (k = 0; k < NQ + NV; ++k) {
        int differs = fabs(after[k] - x[k]) > JUMP*(1.0 + fabs(x[k]));
        if (differs && k < NQ)
            s->status = STUDY_JUMP;
        moved |= differs && k >= NQ;
    }
    if (moved)
        copy(x, after, NX);
    return moved;
#else
    (void)s;
    (void)t;
    (void)x;
    return 0;
#endif
}

static int review(STUDY_state *s, double t, double *x);

/* What happens by the clock at the time reached: samples, changes of parameters, breaks of signals. */
static int ticked(STUDY_state *s, int *broken)
{
    double before[NM1];
    int k, changed = 0;
    *broken = 0;
    copy(before, s->m, NM);
    while (s->next_break < s->breaks_count && s->breaks[s->next_break] <= s->t) {
        s->next_break += 1;
        *broken = 1;
    }
#if NGROUPS
    for (k = 0; k < NGROUPS; ++k) {
        double values[NVALUES];
        int i;
        if (s->offsets[k] + s->ticks[k]*s->periods[k] > s->t)
            continue;
        s->ticks[k] += 1.0;
        f_samples(s, s->t, s->x, s->m, values);
        for (i = group_starts[k]; i < group_starts[k + 1]; ++i) {
            if (!(fabs(values[sample_columns[i]]) < INFINITY))
                s->status = STUDY_NOT_FINITE;
            s->m[sample_places[i]] = values[sample_columns[i]];
        }
    }
#endif
    while (s->next_change < NCHANGES && change_times[s->next_change] <= s->t) {
        k = s->next_change++;
        change(s, change_starts[k], change_starts[k + 1], change_stops[k]);
        changed = 1;
    }
    for (k = 0; k < NM; ++k)
        changed |= before[k] != s->m[k];
    if ((changed || *broken) && !s->status)
        review(s, *broken ? nextafter(s->t, INFINITY) : s->t, s->x);
    return changed || *broken;
}

static void start_clock(STUDY_state *s)
{
    int k;
    prologues(s);
    schedule(s);
    s->next_break = s->next_change = 0;
    while (s->next_break < s->breaks_count && s->breaks[s->next_break] <= s->t)
        s->next_break += 1;
    for (k = 0; k < NGROUPS; ++k)
        s->ticks[k] = larger(0.0, ceil((s->t - s->offsets[k])/s->periods[k] - 1e-9));
    s->begun = s->t;
}

void STUDY_defaults(STUDY_state *s)
{
    int k;
    s->t = BEGIN;
    s->end = INFINITY;
#if STEPPED
    s->step = STEP;
#endif
    copy(s->x, start_x, NX);
    copy(s->u, start_u, NU);
    copy(s->m, start_m, NM);
    copy(s->p, start_p, NP);
#if STEPPED
    s->tolerance[0] = 0.0;
    for (k = 0; k < NX; ++k)
        s->tolerance[1 + k] = 1.0;
#endif
    s->steps = s->event_count = 0;
    s->last_event = -1;
    s->last_event_time = BEGIN;
    s->status = STUDY_OK;
    s->crowded = 0;
    for (k = 0; k < NG1; ++k)
        s->sign[k] = s->slope[k] = 0.0;
    for (k = 0; k < NSWITCHES1; ++k)
        s->slid[k] = -INFINITY;
}

void STUDY_outputs(STUDY_state *s, double *y)
{
    f_outputs(s, s->t, s->x, s->m, y);
}

const char *STUDY_message(int status)
{
    static const char *const words[] = {
        "all is well",
        "a state, a rate or a sample is not a number",
        "the equations of a step have no solution that was found",
        "events follow each other without end",
        "no combination of sticking, sliding and contact fits",
        "redundant constraints share a load among switches",
        "an input that drives a constraint jumps, and the coordinates cannot follow it",
        "the study asked for its end",
    };
    return status >= 0 && status < 8 ? words[status] : "no such status";
}
