/* -- the clock, steps and events ------------------------------------------------------------------------------------
 *
 * The decision of a step: a step of the study's method is tried; where an event function changes its sign within it, the
 * zero is located on the dense output of the step, the switches are set there, and the rest of the step is made as a
 * shorter one. Samples, breaks of signals and changes of parameters end a step exactly.
 */

#define HEAD 4 /* error, growth, look, work */
#define LOOK 2
#define X0 HEAD
#define RATE0 (X0 + NX)
#define G0 (RATE0 + NX)
#define SLOPE0 (G0 + NG)
#define DENSE0 (SLOPE0 + NG)
#define PRECISION 1e-12 /* crossings closer than this are one instant, s */
#define FINENESS 2e-14  /* how exactly a crossing is located, s */
#define CROWD 100       /* events in a row, hardly apart in time */

static int all_finite(const double *x, int n)
{
    int k;
    for (k = 0; k < n; ++k)
        if (!(fabs(x[k]) < INFINITY))
            return 0;
    return 1;
}

#if NG
static double smaller(double a, double b)
{
    return a < b ? a : b;
}

#endif
/* -- events ----------------------------------------------------------------------------------------------------- */
#if NG
static void signs_begin(STUDY_state *s, const char *fired)
{
    const double *g = s->record + G0, *slope = s->record + SLOPE0;
    int k;
    for (k = 0; k < NG; ++k) {
        double near = larger(fabs(slope[k]), s->slope[k])*(10.0*PRECISION) + 1e-15;
        double after = g[k] == 0.0 ? sign_of(slope[k]) : sign_of(g[k]);
        if (fired[k] && fabs(g[k]) <= near)
            after = slope[k] != 0.0 ? sign_of(slope[k]) : s->sign[k];
        if ((after == 0.0 || !fired[k]) && k >= FIRST && k < FIRST + NSWITCHES)
            after = 1.0; /* positive while a mode is right: at zero, or below it by rounding, it has yet to be met */
        s->sign[k] = after;
        s->slope[k] = fabs(slope[k]);
    }
}

static void probe(STUDY_state *s, double theta)
{
    f_at(s, theta, s->trial + DENSE0, s->inside);
}

static double value_at(STUDY_state *s, int k, double theta)
{
    probe(s, theta);
    return s->sign[k]*s->inside[NX + k];
}

static double slope_at(STUDY_state *s, int k, double theta)
{
    probe(s, theta);
    return s->sign[k]*s->inside[NX + NG + k];
}

/* A place within a precision behind a zero between a, where the function is positive, and b, where it is not:
 * the ITP method of Oliveira and Takahashi, ACM Trans. Math. Softw. 47 (2021) 5. */
static double bracketed(STUDY_state *s, int k, double a, double b, double precision)
{
    double ga = value_at(s, k, a), gb = value_at(s, k, b), scale = 0.2/(b - a);
    int limit = (int)ceil(log2(larger((b - a)/(2.0*precision), 1.0))) + 1, count;
    for (count = 0; count < 2*limit + 60; ++count) {
        double middle = 0.5*(a + b), radius, delta, secant, toward, trial, place, value;
        if (b - a <= 2.0*precision || !(a < middle && middle < b))
            break;
        radius = larger(precision*ldexp(1.0, limit - count) - 0.5*(b - a), 0.0);
        delta = scale*(b - a)*(b - a);
        secant = fabs(ga - gb) < INFINITY ? (b*ga - a*gb)/(ga - gb) : middle;
        toward = copysign(1.0, middle - secant);
        trial = delta <= fabs(middle - secant) ? secant + toward*delta : middle;
        place = fabs(trial - middle) <= radius ? trial : middle - toward*radius;
        value = value_at(s, k, place);
        if (value > 0.0) {
            a = place;
            ga = value;
        } else {
            b = place;
            gb = value;
        }
    }
    return b;
}

/* Where, from 0 to 1, the cubic with these values and slopes at the ends is lowest. */
static double lowest(double g0, double g1, double slope0, double slope1)
{
    double c = 3.0*(g1 - g0) - 2.0*slope0 - slope1, d = slope0 + slope1 - 2.0*(g1 - g0);
    double root = c*c - 3.0*d*slope0, bottom, place;
    if (root < 0.0)
        return 0.5;
    bottom = c + sqrt(root);
    place = bottom != 0.0 ? -slope0/bottom : 0.5;
    return 0.0 < place && place < 1.0 ? place : 0.5;
}

/* Where, between two values of one sign, the function is on the other side; negative if it is not. */
static double dip(STUDY_state *s, int k, double h, double start)
{
    double width = 1.0 - start, g0 = value_at(s, k, start), slope0 = slope_at(s, k, start);
    double g1 = value_at(s, k, 1.0), slope1 = slope_at(s, k, 1.0), place;
    if (slope0 >= 0.0 || slope1 <= 0.0)
        return -1.0;
    place = start + width*lowest(g0, g1, slope0*h*width, slope1*h*width);
    return value_at(s, k, place) < 0.0 ? place : -1.0;
}

/* A place just behind the zero. */
static double located(STUDY_state *s, int k, double h, double start, double end)
{
    double precision = FINENESS/h, first = start, width = PRECISION/h;
    while (value_at(s, k, first) <= 0.0) {
        first = start + 0.5*((first == start ? end : first) - start);
        if (first - start < precision) {
            while (start + width < end && slope_at(s, k, start + width) >= 0.0)
                width *= 2.0;
            return smaller(start + width, end);
        }
    }
    return bracketed(s, k, first, end, precision);
}

static int handle(STUDY_state *s, double t, int event, int rising, double *x, int first);
static void restart(STUDY_state *s, int broken, const char *fired);

/* Ask about events of one instant, in order; whether the motion goes on anew from there. */
static int meet(STUDY_state *s, const double *theta, double last, double time)
{
    char fired[NG];
    double x[NX], m[NM1], p[NP1];
    int k, changed = 0, first = 1, left = NG;
    if (last >= 1.0) {
        copy(x, s->trial + X0, NX);
    } else {
        probe(s, last);
        copy(x, s->inside, NX);
    }
    copy(m, s->m, NM);
    copy(p, s->p, NP);
    for (k = 0; k < NG; ++k)
        fired[k] = 0;
    while (left-- > 0) {
        int next = -1;
        for (k = 0; k < NG; ++k)
            if (theta[k] >= 0.0 && theta[k] <= last && !fired[k] && (next < 0 || theta[k] < theta[next]))
                next = k;
        if (next < 0)
            break;
        fired[next] = 1;
        s->event_count += 1;
        s->last_event = next;
        s->last_event_time = time;
        changed |= handle(s, time, next, s->sign[next] < 0.0, x, first);
        first = 0;
    }
    for (k = 0; k < NM; ++k)
        changed |= m[k] != s->m[k];
    for (k = 0; k < NP; ++k)
        changed |= p[k] != s->p[k];
    if (!changed)
        return 0;
    s->crowded = time - s->t < 10.0*PRECISION ? s->crowded + 1 : 0;
    s->t = time;
    copy(s->x, x, NX);
    if (s->crowded > CROWD)
        s->status = STUDY_CHATTERING;
    if (!s->status)
        restart(s, 0, fired);
    return 1;
}

/* Meet the events of the step tried last, in order; whether the motion goes on from one of them anew. */
static int events(STUDY_state *s, double h, double after)
{
    double start = 0.0;
    int round;
    for (round = 0; round < CROWD; ++round) {
        double theta[NG], first = INFINITY, last = -1.0, time;
        int k;
        for (k = 0; k < NG; ++k) {
            double before = s->sign[k], now = sign_of(s->trial[G0 + k]), end;
            theta[k] = -1.0;
            if (before == 0.0)
                continue;
            end = before*now < 0.0 ? 1.0 : dip(s, k, h, start);
            if (end >= 0.0)
                theta[k] = located(s, k, h, start, end);
            if (theta[k] >= 0.0)
                first = smaller(first, theta[k]);
        }
        if (first == INFINITY) {
            for (k = 0; k < NG; ++k) {
                s->slope[k] = fabs(s->trial[SLOPE0 + k]);
                if (s->sign[k] == 0.0)
                    s->sign[k] = sign_of(s->trial[G0 + k]);
            }
            return 0;
        }
        for (k = 0; k < NG; ++k)
            if (theta[k] >= 0.0 && theta[k] <= first + PRECISION/h)
                last = larger(last, theta[k]);
        time = last >= 1.0 ? after : smaller(s->t + last*h, after);
        if (meet(s, theta, last, time))
            return 1;
        for (k = 0; k < NG; ++k)
            if (theta[k] >= 0.0 && theta[k] <= last)
                s->sign[k] = -s->sign[k];
        start = last;
    }
    s->status = STUDY_CHATTERING;
    return 1;
}
#endif

/* -- steps ------------------------------------------------------------------------------------------------------ */
static void restart(STUDY_state *s, int broken, const char *fired)
{
    double earliest = broken ? nextafter(s->t, INFINITY) : s->t;
    int k;
    s->now[0] = s->t;
    s->now[1] = 0.0;
    s->now[2] = earliest;
    s->now[3] = larger(nextafter(next_instant(s), -INFINITY), earliest);
    for (k = 0; k < RECORD; ++k)
        s->trial[k] = 0.0;
    copy(s->trial + X0, s->x, NX);
    f_begin(s, s->trial, s->record);
    copy(s->x, s->record + X0, NX);
    if (!all_finite(s->record, RECORD))
        s->status = STUDY_NOT_FINITE;
    s->fresh = 1;
#if NG
    signs_begin(s, fired);
#else
    (void)fired;
#endif
}

static void segment(STUDY_state *s, double instant)
{
    double base = s->t;
    long count = 0;
    while (s->t < instant && !s->status) {
        double h = s->step, left = instant - s->t, after;
        int ends = h >= left*0.9999999999;
        if (ends)
            h = left;
        s->now[1] = h;
        f_step(s, s->record, s->trial);
        s->steps += 1;
        if (!(s->trial[0] <= 1.0)) {
            s->status = all_finite(s->trial + X0, NX) ? STUDY_NO_CONVERGENCE : STUDY_NOT_FINITE;
            return;
        }
        count += 1;
        after = ends ? instant : base + (double)count*h;
#if NG
        if ((s->fresh || s->trial[LOOK] != 0.0) && events(s, h, after)) {
            base = s->t;
            count = 0;
            continue;
        }
#endif
        copy(s->record, s->trial, RECORD);
        copy(s->x, s->record + X0, NX);
        s->t = s->now[0] = after;
        s->fresh = 0;
    }
}

static void due(STUDY_state *s)
{
    static const char none[NG1] = {0};
    int broken;
    if (ticked(s, &broken) && !s->status)
        restart(s, broken, none);
    else
        s->now[3] = nextafter(next_instant(s), -INFINITY);
}

/* -- what is called --------------------------------------------------------------------------------------------- */
int STUDY_init(STUDY_state *s)
{
    static const char none[NG1] = {0};
    start_clock(s);
    copy(s->seen, s->u, NU);
    due(s);
    if (!s->status)
        restart(s, 0, none);
    return s->status;
}

/* Inputs that were changed from outside since the last step: what holds now is judged anew. */
static void take_inputs(STUDY_state *s)
{
    static const char none[NG1] = {0};
    int k, changed = 0;
    for (k = 0; k < NU; ++k)
        changed |= s->u[k] != s->seen[k];
    copy(s->seen, s->u, NU);
    if (!changed || s->status)
        return;
    review(s, s->t, s->x);
    if (!s->status)
        restart(s, 0, none);
}

int STUDY_advance(STUDY_state *s, double until)
{
    take_inputs(s);
    while (s->t < until && !s->status) {
        double instant = next_instant(s);
        segment(s, instant < until ? instant : until);
        if (!s->status && s->t < s->end && next_instant(s) <= s->t)
            due(s);
    }
    return s->status;
}

int STUDY_step(STUDY_state *s)
{
    double done = floor((s->t - s->begun)/s->step + 1e-6);
    return STUDY_advance(s, s->begun + (done + 1.0)*s->step);
}
