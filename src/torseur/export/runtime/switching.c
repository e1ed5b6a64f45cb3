/* -- switches: friction that sticks or slides, contacts and stops that hold or are open ------------------------------
 *
 * Each switch is a held number. Its event function is positive while the mode is right. At an event the modes are chosen
 * so that friction stays below its level, contacts push, and nothing moves against its own friction.
 */

#define NEAR 1e-9         /* gaps and rates below this are zero when modes are chosen, m or rad, and per second */
#define HOLDS (1.0 + 1e-13) /* what friction holds, as a share of its level, against rounding */
#define SLOW 1e-7         /* slower than this the sliding velocity has no direction, m/s */
#define REST_SPEED 1e-4   /* a rebound slower than this ends an impact, m/s or rad/s */
#define ROUNDS 100        /* impacts at one instant */
#define ROUNDING 1e-9     /* smaller shares of what friction makes of an acceleration are zero when modes are chosen */
#define DIRECTIONS 32
#define NFOUND (4*NDRY + 4*NSIDED + 8*NSLIP)

static int bit_of(const STUDY_state *s, const double *m, int kind, int k)
{
    (void)s;
    (void)m;
    (void)k;
#if NDRY
    if (kind == 0)
        return m[dry_places[k]] == 0.0;
#endif
#if NSIDED
    if (kind == 1)
        return m[closed_places[k]] > 0.5;
#endif
#if NSLIP
    if (kind == 2)
        return (slip_closed[k] < 0 || m[slip_closed[k]] > 0.5) && m[slip_places[k]] < 0.5;
#endif
    return kind < 0;
}

/* The ranks of the rows that are active; whether rows are redundant. */
static int set_ranks(STUDY_state *s, double *m)
{
    int c, i, redundant = 0;
    for (c = 0; c < NCOMPONENTS; ++c) {
        int pattern = 0;
        for (i = atom_starts[c]; i < atom_starts[c + 1]; ++i)
            pattern |= bit_of(s, m, atom_kinds[i], atom_numbers[i]) << (i - atom_starts[c]);
        for (i = 0; i < 3; ++i)
            m[rank_places[3*c + i]] = rank_rows[4*(rank_starts[c] + pattern) + i];
        redundant |= rank_rows[4*(rank_starts[c] + pattern) + 3] != 0.0;
        if (rank_rows[4*(rank_starts[c] + pattern) + 3] > 1.0 && !s->status)
            s->status = STUDY_UNDECIDED; /* no state was found that meets all of these rows */
    }
    return redundant;
}

static void look(STUDY_state *s, double t, const double *x, double *found)
{
    set_ranks(s, s->m);
    f_decisions(s, t, x, s->m, found);
}

static void allowed(STUDY_state *s, double t, const double *x, double *m, double *after)
{
    double given[NX];
    copy(given, x, NX);
    set_ranks(s, m);
    f_jumps(s, t, given, m, after);
}

/* Where rows are redundant, their loads could be shared otherwise: that is not decided here, but told. */
static void check_shares(STUDY_state *s)
{
    if (set_ranks(s, s->m) && !s->status)
        s->status = STUDY_REDUNDANT;
}

#if NSLIP
static const double *slip_of(const double *found, int k)
{
    return found + 4*NDRY + 4*NSIDED + 8*k;
}

static int slip_is_closed(const STUDY_state *s, int k)
{
    return slip_closed[k] < 0 || s->m[slip_closed[k]] > 0.5;
}

static void turn_to(STUDY_state *s, int k, double ex, double ey)
{
    s->m[slip_places[k]] = 1.0;
    s->m[slip_axes[2*k]] = ex;
    if (slip_axes[2*k + 1] >= 0)
        s->m[slip_axes[2*k + 1]] = ey;
}

static double excess(const double *slip)
{
    return hypot(slip[4], slip[5])/larger(slip[7]*slip[6]*HOLDS, 1e-300);
}

/* The relative acceleration across a direction, and along it. */
static double across(STUDY_state *s, int k, double t, const double *x, double angle, double *along)
{
    double found[NFOUND], ex = cos(angle), ey = sin(angle);
    const double *slip = slip_of(found, k);
    turn_to(s, k, ex, ey);
    look(s, t, x, found);
    *along = slip[2]*ex + slip[3]*ey;
    return ex*slip[3] - ey*slip[2];
}

/* Slip along the relative acceleration that comes of it, next to a direction. */
static void aim(STUDY_state *s, int k, double t, const double *x, double ex, double ey)
{
    const double pi = 3.14159265358979323846;
    double begin, c[DIRECTIONS + 1], a[DIRECTIONS + 1], size = 0.0, low, high, side, unused;
    int i, best = -1;
    if (slip_axes[2*k + 1] < 0) {
        turn_to(s, k, ex < 0.0 ? -1.0 : 1.0, 0.0);
        return;
    }
    begin = atan2(ey, ex);
    for (i = 0; i <= DIRECTIONS; ++i) {
        c[i] = across(s, k, t, x, begin + pi*(double)(i - DIRECTIONS/2)/DIRECTIONS, &a[i]);
        size = larger(size, fabs(c[i]) + fabs(a[i]));
    }
    for (i = 0; i < DIRECTIONS; ++i)
        if (c[i]*c[i + 1] <= 0.0 && a[i] + a[i + 1] >= 0.0)
            if (best < 0 || abs(i - DIRECTIONS/2) < abs(best - DIRECTIONS/2))
                best = i;
    if (fabs(c[DIRECTIONS/2]) <= 1e-12*(size > 0.0 ? size : 1.0) || best < 0) {
        turn_to(s, k, cos(begin), sin(begin));
        return;
    }
    low = begin + pi*(double)(best - DIRECTIONS/2)/DIRECTIONS;
    high = begin + pi*(double)(best + 1 - DIRECTIONS/2)/DIRECTIONS;
    side = c[best] < 0.0 ? -1.0 : 1.0;
    for (i = 0; i < 50; ++i) {
        double middle = 0.5*(low + high);
        if (across(s, k, t, x, middle, &unused)*side > 0.0)
            low = middle;
        else
            high = middle;
    }
    turn_to(s, k, cos(low), sin(low));
}

static void slip_away(STUDY_state *s, int k, double t, const double *x)
{
    double found[NFOUND];
    look(s, t, x, found);
    aim(s, k, t, x, -slip_of(found, k)[4], -slip_of(found, k)[5]);
    s->slid[NDRY + NSIDED + k] = t;
}

/* The first contact that begins to slip against the direction of its slip; -1 where none does. */
static int reversed(STUDY_state *s, double t, const double *x)
{
    double now[NFOUND], other[NFOUND];
    int k;
    for (k = 0; k < NSLIP; ++k) {
        double ex, ey, a, b;
        if (!slip_is_closed(s, k) || s->m[slip_places[k]] < 0.5)
            continue;
        look(s, t, x, now);
        if (hypot(slip_of(now, k)[0], slip_of(now, k)[1]) > SLOW)
            continue;
        ex = s->m[slip_axes[2*k]];
        ey = slip_axes[2*k + 1] < 0 ? 0.0 : s->m[slip_axes[2*k + 1]];
        turn_to(s, k, -ex, -ey);
        look(s, t, x, other);
        turn_to(s, k, ex, ey);
        a = slip_of(now, k)[2]*ex + slip_of(now, k)[3]*ey;
        b = slip_of(other, k)[2]*ex + slip_of(other, k)[3]*ey;
        if (a < -1e-9*fabs(a - b))
            return k;
    }
    return -1;
}
#endif

#if NDRY
/* The acceleration along the path of a friction that slides in a sense. */
static double pulled(STUDY_state *s, int k, double sense, double t, const double *x)
{
    double found[NFOUND], mode = s->m[dry_places[k]];
    s->m[dry_places[k]] = sense;
    look(s, t, x, found);
    s->m[dry_places[k]] = mode;
    return found[4*k + 3];
}

/* Set right a friction at rest that slides against its own acceleration, or sticks where no force can hold it, as a
 * slide in its dead centre; whether there was one. */
static int was_at_odds(STUDY_state *s, double t, const double *x, const double *found)
{
    int k;
    for (k = 0; k < NDRY; ++k) {
        double mode = s->m[dry_places[k]], a = found[4*k + 3], forward, backward, least, right;
        if (fabs(found[4*k]) > NEAR || (mode != 0.0 ? mode*a >= 0.0 : a == 0.0))
            continue;
        forward = pulled(s, k, 1.0, t, x);
        backward = pulled(s, k, -1.0, t, x);
        least = ROUNDING*fabs(forward - backward);
        right = forward > least ? 1.0 : backward < -least ? -1.0 : 0.0;
        if (right != mode && (mode == 0.0 || mode*a < -least)) {
            s->m[dry_places[k]] = right;
            return 1;
        }
    }
    return 0;
}
#endif

/* Friction acts against the motion there is, and sticks where there is none, until it must let go. */
static void face(STUDY_state *s, double t, const double *x)
{
    double found[NFOUND];
    int k;
    look(s, t, x, found);
#if NDRY
    for (k = 0; k < NDRY; ++k) {
        if (fabs(found[4*k]) > NEAR)
            s->m[dry_places[k]] = sign_of(found[4*k]);
        else if (s->slid[k] != t)
            s->m[dry_places[k]] = 0.0;
    }
#endif
#if NSLIP
    look(s, t, x, found);
    for (k = 0; k < NSLIP; ++k) {
        const double *slip = slip_of(found, k);
        double speed = hypot(slip[0], slip[1]);
        if (!slip_is_closed(s, k))
            s->m[slip_places[k]] = 0.0;
        else if (speed > SLOW)
            turn_to(s, k, slip[0]/speed, slip[1]/speed);
        else if (s->slid[NDRY + NSIDED + k] != t)
            s->m[slip_places[k]] = 0.0;
    }
#endif
    (void)k;
}

/* Let go what cannot hold: friction above its level, contacts that would pull. */
static void settle(STUDY_state *s, double t, const double *x)
{
    double found[NFOUND];
    int round, k;
#if NSLIP
    char turned[NSLIP] = {0};
#endif
    for (round = 0; round < 4*NSWITCHES + 4; ++round) {
        int over = -1, pulling = -1, broken = -1;
#if NDRY || NSLIP
        double worst = 0.0;
#endif
        look(s, t, x, found);
#if NDRY
        for (k = 0; k < NDRY; ++k) {
            double force = fabs(found[4*k + 1]), level = found[4*k + 2];
            if (s->m[dry_places[k]] == 0.0 && force > level*HOLDS && force/larger(level, 1e-300) >= worst) {
                worst = force/larger(level, 1e-300);
                over = k;
            }
        }
#endif
#if NSIDED
        for (k = NSIDED - 1; k >= 0; --k)
            if (s->m[closed_places[k]] > 0.5 && found[4*NDRY + 4*k + 2] < 0.0)
                pulling = k;
#endif
#if NSLIP
        worst = 1.0;
        for (k = 0; k < NSLIP; ++k)
            if (bit_of(s, s->m, 2, k) && excess(slip_of(found, k)) > worst) {
                worst = excess(slip_of(found, k));
                broken = k;
            }
#endif
        if (over < 0 && pulling < 0 && broken < 0) {
#if NDRY
            if (was_at_odds(s, t, x, found))
                continue;
#endif
#if NSLIP
            k = reversed(s, t, x);
            if (k < 0)
                return;
            if (turned[k]) {
                s->m[slip_places[k]] = 0.0;
            } else {
                look(s, t, x, found);
                aim(s, k, t, x, slip_of(found, k)[2], slip_of(found, k)[3]);
            }
            turned[k] = 1;
            continue;
#else
            return;
#endif
        }
        check_shares(s);
        if (s->status)
            return;
#if NDRY
        if (over >= 0) {
            s->m[dry_places[over]] = -sign_of(found[4*over + 1]);
            continue;
        }
#endif
#if NSIDED
        if (pulling >= 0) {
            s->m[closed_places[pulling]] = 0.0;
            continue;
        }
#endif
#if NSLIP
        slip_away(s, broken, t, x);
#endif
    }
    s->status = STUDY_UNDECIDED;
    (void)k;
}

#if NSIDED
static void impact(STUDY_state *s, double t, double *x);
#endif

/* Choose all modes anew at a start. */
#if RESETS
static void begin_modes(STUDY_state *s)
{
    double after[NX];
    int k;
#if NSIDED
    double found[NFOUND];
    look(s, s->t, s->x, found);
    for (k = 0; k < NSIDED; ++k) {
        const double *one = found + 4*NDRY + 4*k;
        s->m[closed_places[k]] = one[0] <= NEAR && fabs(one[1]) <= NEAR ? 1.0 : 0.0;
    }
#endif
#if NDRY
    for (k = 0; k < NDRY; ++k)
        s->m[dry_places[k]] = 1.0;
#endif
#if NSLIP
    for (k = 0; k < NSLIP; ++k)
        s->m[slip_places[k]] = 1.0;
#endif
#if NSIDED
    impact(s, s->t, s->x);
#endif
    face(s, s->t, s->x);
    settle(s, s->t, s->x);
    allowed(s, s->t, s->x, s->m, after);
    copy(s->x, after, NX);
    (void)k;
}
#endif

/* Set the modes right after inputs, samples or parameters jumped; whether anything changed. */
static int review(STUDY_state *s, double t, double *x)
{
    double before[NM1], after[NX];
    int k, changed = following(s, t, x), modes = 0;
    copy(before, s->m, NM);
    face(s, t, x);
    settle(s, t, x);
    for (k = 0; k < NM; ++k)
        modes |= before[k] != s->m[k];
    if (modes && !s->status) {
        allowed(s, t, x, s->m, after);
        copy(x, after, NX);
    }
    return changed || modes;
}

#if NDRY || NSLIP
static void go_on(STUDY_state *s, double t, double *x)
{
    double after[NX];
    settle(s, t, x);
    if (s->status)
        return;
    allowed(s, t, x, s->m, after);
    copy(x, after, NX);
}
#endif

/* Change what an event of a switch says must change. */
static void switched(STUDY_state *s, double t, int k, double *x)
{
    double found[NFOUND];
    look(s, t, x, found);
#if NDRY
    if (k < NDRY) {
        if (s->m[dry_places[k]] == 0.0) {
            check_shares(s);
            s->m[dry_places[k]] = found[4*k + 1] > 0.0 ? -1.0 : 1.0;
            s->slid[k] = t;
        } else {
            s->m[dry_places[k]] = 0.0;
        }
        go_on(s, t, x);
        return;
    }
#endif
    k -= NDRY;
#if NSIDED
    if (k < NSIDED) {
        if (s->m[closed_places[k]] > 0.5) {
            check_shares(s);
            s->m[closed_places[k]] = 0.0;
        } else {
            impact(s, t, x);
        }
        face(s, t, x);
        settle(s, t, x);
        return;
    }
#endif
    k -= NSIDED;
#if NSLIP
    if (s->m[slip_places[k]] > 0.5) {
        const double *slip = slip_of(found, k);
        double speed = hypot(slip[0], slip[1]);
        if (speed > SLOW) {
            turn_to(s, k, slip[0]/speed, slip[1]/speed);
            return;
        }
        s->m[slip_places[k]] = 0.0;
    } else {
        check_shares(s);
        slip_away(s, k, t, x);
    }
    go_on(s, t, x);
#endif
    (void)k;
}

static int handle(STUDY_state *s, double t, int event, int rising, double *x, int first)
{
    int k = event - FIRST, changed = 0;
    if (first)
        copy(s->before, s->m, NM);
    if (k >= 0 && k < NSWITCHES && !rising && s->m[mode_places[k]] == s->before[mode_places[k]]) {
        switched(s, t, k, x);
        changed = 1;
    }
    for (k = NCHANGES; k < NCHANGES + NEVENTCHANGES; ++k)
        if (change_events[k - NCHANGES] == event) {
            change(s, change_starts[k], change_starts[k + 1], change_stops[k]);
            review(s, t, x);
            changed = 1;
        }
    set_ranks(s, s->m);
    return changed;
}
