/* -- a start from other numbers than those of the study ------------------------------------------------------------ */

#if NSWITCHES
static void begin_modes(STUDY_state *s);

#endif
void STUDY_reset(STUDY_state *s)
{
#if STARTS
    double found[STARTS];
#endif
    prologues(s);
#if STARTS
    f_starts(s, s->t, s->x, s->m, found);
    copy(s->x + NQ + NV, found, NZ);
#endif
#if STARTS && NOWN
    {
        int k;
        for (k = 0; k < NOWN; ++k)
            s->m[own_places[k]] = found[NZ + own_places[k]];
    }
#endif
#if NSWITCHES
    begin_modes(s);
#elif CORRECTS
    {
        double after[NX];
        f_corrected(s, s->t, s->x, s->m, after);
        f_corrected(s, s->t, after, s->m, s->x);
    }
#endif
}
