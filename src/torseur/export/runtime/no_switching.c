/* -- no switches -------------------------------------------------------------------------------------------------- */
#if NG
static int handle(STUDY_state *s, double t, int event, int rising, double *x, int first)
{
    int k, changed = 0;
    for (k = NCHANGES; k < NCHANGES + NEVENTCHANGES; ++k)
        if (change_events[k - NCHANGES] == event) {
            change(s, change_starts[k], change_starts[k + 1], change_stops[k]);
            changed = 1;
        }
    if (changed)
        following(s, t, x);
    (void)rising;
    (void)first;
    return changed;
}
#endif

static int review(STUDY_state *s, double t, double *x)
{
    return following(s, t, x);
}
