/* -- impacts: everything that touches and approaches is hit, at once; contacts push or do nothing ----------------- */

#define FINE 1e-9 /* rates that differ by less, m/s or rad/s, or as a share of the largest, are equal */
#define SEEN 64
#define MOST 12 /* contacts of one instant among which all combinations are tried */

typedef struct {
    double t;
    const double *before;
    unsigned long touching;
    double rebound[NSIDED];
} impact_case;

static void impact_modes(STUDY_state *s, const impact_case *c, unsigned long acting, double factor, double *m)
{
    int k;
    copy(m, s->m, NM);
    for (k = 0; k < NSIDED; ++k) {
        m[closed_places[k]] = acting >> k & 1ul ? 1.0 : 0.0;
        m[hit_places[k]] = c->touching >> k & 1ul && c->rebound[k] > 0.0 ? factor : 0.0;
    }
}

static void impact_solve(STUDY_state *s, const impact_case *c, unsigned long acting, double factor, double *after)
{
    double m[NM];
    impact_modes(s, c, acting, factor, m);
    allowed(s, c->t, c->before, m, after);
}

static double impact_rates(STUDY_state *s, double t, const double *x, double *rates)
{
    double found[NFOUND], size = 1.0;
    int k;
    look(s, t, x, found);
    for (k = 0; k < NSIDED; ++k) {
        rates[k] = found[4*NDRY + 4*k + 1];
        size = larger(size, fabs(rates[k]));
    }
    return FINE*size;
}

/* Kinetic energy relative to speeds that leave those contacts, and all other rows, as they are. */
static double impact_energy(STUDY_state *s, const impact_case *c, const double *state, unsigned long acting)
{
    double m[NM], still[NX], carried[NX], energy[1];
    int k;
    impact_modes(s, c, acting, 0.0, m);
    copy(still, state, NX);
    for (k = NQ; k < NQ + NV; ++k)
        still[k] = 0.0;
    allowed(s, c->t, still, m, carried);
    copy(still, state, NX);
    for (k = NQ; k < NQ + NV; ++k)
        still[k] -= carried[k];
    set_ranks(s, s->m);
    f_weight(s, c->t, still, s->m, energy);
    return energy[0];
}

/* The contact that is missed most in a set, or else pulls most in it; -1 where it is the right one. */
static int misplaced(STUDY_state *s, const impact_case *c, unsigned long chosen)
{
    double after[NX], rates[NSIDED], others[NSIDED], near, most = 0.0;
    int k, worst = -1, is_short = 0;
    impact_solve(s, c, chosen, 1.0, after);
    near = impact_rates(s, c->t, after, rates);
    for (k = 0; k < NSIDED; ++k)
        if (c->touching >> k & 1ul && !(chosen >> k & 1ul) && (worst < 0 || c->rebound[k] - rates[k] > most)) {
            most = c->rebound[k] - rates[k];
            worst = k;
        }
    if (worst >= 0 && most > near)
        return worst;
    worst = -1;
    for (k = 0; k < NSIDED; ++k) {
        if (!(chosen >> k & 1ul))
            continue;
        impact_solve(s, c, chosen & ~(1ul << k), 1.0, after);
        impact_rates(s, c->t, after, others);
        if (worst < 0 || others[k] - c->rebound[k] > most) {
            most = others[k] - c->rebound[k];
            worst = k;
        }
        is_short |= c->rebound[k] - rates[k] > near;
    }
    return worst >= 0 && (is_short || most > near) ? worst : -1;
}

static unsigned long pushing(STUDY_state *s, const impact_case *c)
{
    unsigned long chosen = 0, seen[SEEN], some;
    int count = 0, i, k, size;
    while (count < SEEN) {
        for (i = 0; i < count && seen[i] != chosen; ++i)
            ;
        if (i < count)
            break;
        seen[count++] = chosen;
        k = misplaced(s, c, chosen);
        if (k < 0)
            return chosen;
        chosen ^= 1ul << k;
    }
    for (size = 0; NSIDED <= MOST && size <= NSIDED; ++size)
        for (some = 0; some < 1ul << NSIDED; ++some) {
            for (i = 0, k = 0; k < NSIDED; ++k)
                i += (int)(some >> k & 1ul);
            if (i == size && !(some & ~c->touching) && misplaced(s, c, some) < 0)
                return some;
        }
    s->status = STUDY_UNDECIDED;
    return chosen;
}

/* The share of all rebounds with which as much energy is left as there was. */
static double share_of(STUDY_state *s, const impact_case *c, unsigned long pushed, double before, double full)
{
    double after[NX], none, half, a, b, left, root;
    impact_solve(s, c, pushed, 0.0, after);
    none = impact_energy(s, c, after, pushed);
    impact_solve(s, c, pushed, 0.5, after);
    half = impact_energy(s, c, after, pushed);
    a = 2.0*(full + none - 2.0*half);
    b = 4.0*half - full - 3.0*none;
    left = larger(before - none, 0.0);
    root = b + sqrt(larger(b*b + 4.0*a*left, 0.0));
    if (!(root > 0.0))
        return 0.0;
    return 2.0*left/root > 1.0 ? 1.0 : larger(2.0*left/root, 0.0);
}

#if NSLIP
static int rub(STUDY_state *s, const impact_case *c, double *after, unsigned long acting);
#endif

static void impact(STUDY_state *s, double t, double *x)
{
    int round, k;
    for (round = 0; round < ROUNDS && !s->status; ++round) {
        impact_case c;
        double found[NFOUND], after[NX], rates[NSIDED], near, share = 1.0, before, energy;
        unsigned long pushed, reached = 0, met = 0;
        look(s, t, x, found);
        c.t = t;
        c.before = x;
        c.touching = 0;
        for (k = 0; k < NSIDED; ++k) {
            const double *one = found + 4*NDRY + 4*k;
            int closed = s->m[closed_places[k]] > 0.5;
            c.rebound[k] = 0.0;
            if (!closed && one[0] <= NEAR && one[1] < 0.0) {
                met |= 1ul << k;
                c.rebound[k] = -one[3]*one[1] > REST_SPEED ? -one[3]*one[1] : 0.0;
            }
            if (closed)
                c.touching |= 1ul << k;
        }
        if (!met)
            return;
        c.touching |= met;
#if NDRY
        for (k = 0; k < NDRY; ++k)
            if (s->m[dry_places[k]] == 0.0)
                s->m[dry_places[k]] = 1.0;
#endif
#if NSLIP
        for (k = 0; k < NSLIP; ++k)
            s->m[slip_places[k]] = 1.0;
#endif
        pushed = pushing(s, &c);
        before = impact_energy(s, &c, x, pushed);
        impact_solve(s, &c, pushed, 1.0, after);
        energy = impact_energy(s, &c, after, pushed);
        if (energy > before*(1.0 + FINE)) {
            share = share_of(s, &c, pushed, before, energy);
            impact_solve(s, &c, pushed, share, after);
        }
        near = impact_rates(s, t, after, rates);
        for (k = 0; k < NSIDED; ++k)
            if (c.touching >> k & 1ul && rates[k] - share*c.rebound[k] <= near)
                reached |= 1ul << k;
        reached |= pushed;
#if NSLIP
        if (rub(s, &c, after, reached)) {
            near = impact_rates(s, t, after, rates);
            reached = 0;
            for (k = 0; k < NSIDED; ++k)
                if (c.touching >> k & 1ul && rates[k] <= c.rebound[k] + near)
                    reached |= 1ul << k;
        }
#endif
        for (k = 0; k < NSIDED; ++k)
            if (c.touching >> k & 1ul)
                s->m[closed_places[k]] = reached >> k & 1ul && c.rebound[k] == 0.0 ? 1.0 : 0.0;
        copy(x, after, NX);
    }
    if (!s->status)
        s->status = STUDY_UNDECIDED;
}
