/* -- friction in an impact: impulses along the ground that stay in the cone of the normal ones -------------------- */

#define NK (NV + NROWS)

typedef struct {
    double A[NROWS*NV], u[NROWS], M[NV*NV], jump[NV], wanted[NROWS];
    double asked[NROWS]; /* of all that may push: the rate after */
    double mu[NSLIP];
    char holding[NROWS], touching[NROWS], pushing[NROWS];
} struck_case;

/* The shortest of the x that meet K x = b best, K (n, n): by one-sided Jacobi rotations. */
static void least_squares(int n, const double *K, const double *b, double *x)
{
    static double U[NK*NK], V[NK*NK];
    double size[NK], largest = 0.0;
    int i, j, k, round, turned = 1;
    for (i = 0; i < n*n; ++i) {
        U[i] = K[i];
        V[i] = i/n == i%n ? 1.0 : 0.0;
    }
    for (round = 0; round < 60 && turned; ++round) {
        turned = 0;
        for (i = 0; i < n - 1; ++i)
            for (j = i + 1; j < n; ++j) {
                double a = 0.0, c = 0.0, d = 0.0, zeta, t, cs, sn;
                for (k = 0; k < n; ++k) {
                    a += U[k*n + i]*U[k*n + i];
                    c += U[k*n + j]*U[k*n + j];
                    d += U[k*n + i]*U[k*n + j];
                }
                if (!(fabs(d) > 1e-15*sqrt(a*c)))
                    continue;
                turned = 1;
                zeta = (c - a)/(2.0*d);
                t = (zeta < 0.0 ? -1.0 : 1.0)/(fabs(zeta) + sqrt(1.0 + zeta*zeta));
                cs = 1.0/sqrt(1.0 + t*t);
                sn = cs*t;
                for (k = 0; k < n; ++k) {
                    double p = U[k*n + i], q = U[k*n + j];
                    U[k*n + i] = cs*p - sn*q;
                    U[k*n + j] = sn*p + cs*q;
                    p = V[k*n + i];
                    q = V[k*n + j];
                    V[k*n + i] = cs*p - sn*q;
                    V[k*n + j] = sn*p + cs*q;
                }
            }
    }
    for (j = 0; j < n; ++j) {
        size[j] = 0.0;
        for (k = 0; k < n; ++k)
            size[j] += U[k*n + j]*U[k*n + j];
        size[j] = sqrt(size[j]);
        largest = larger(largest, size[j]);
        x[j] = 0.0;
    }
    for (j = 0; j < n; ++j) {
        double part = 0.0;
        if (!(size[j] > 1e-13*largest))
            continue;
        for (k = 0; k < n; ++k)
            part += U[k*n + j]*b[k];
        part /= size[j]*size[j];
        for (k = 0; k < n; ++k)
            x[k] += part*V[k*n + j];
    }
}

typedef struct {
    char slides[NSLIP];
    double e[2*NSLIP];
} slide_state;

static double row_times(const struck_case *c, int row, const double *v)
{
    double total = 0.0;
    int j;
    for (j = 0; j < NV; ++j)
        total += c->A[row*NV + j]*v[j];
    return total;
}

static int takes_part(const struck_case *c, const char *pushes, int slip)
{
    int row = slip_normal_rows[slip];
    return pushes[row] || c->holding[row];
}

/* The jump with given rates of rows, and with sticks or slips of contacts. */
static void balance(const struck_case *c, const char *pushes, const slide_state *sl, double *jump, double *L)
{
    static double K[NK*NK];
    double right[NK], found[NK], wanted[NROWS];
    int held[NROWS], count = 0, i, j, k, n;
    char is_held[NROWS];
    for (i = 0; i < NROWS; ++i) {
        is_held[i] = pushes[i] || c->holding[i];
        wanted[i] = c->wanted[i];
        L[i] = 0.0;
    }
    for (k = 0; k < NSLIP; ++k)
        if (takes_part(c, pushes, k) && !sl->slides[k])
            for (j = 0; j < 2; ++j)
                if (slip_along_rows[2*k + j] >= 0) {
                    is_held[slip_along_rows[2*k + j]] = 1;
                    wanted[slip_along_rows[2*k + j]] = -c->u[slip_along_rows[2*k + j]];
                }
    for (i = 0; i < NROWS; ++i)
        if (is_held[i])
            held[count++] = i;
    n = NV + count;
    for (i = 0; i < n*n; ++i)
        K[i] = 0.0;
    for (i = 0; i < NV; ++i) {
        right[i] = 0.0;
        for (j = 0; j < NV; ++j)
            K[i*n + j] = c->M[i*NV + j];
    }
    for (k = 0; k < count; ++k) {
        right[NV + k] = wanted[held[k]];
        for (j = 0; j < NV; ++j) {
            K[(NV + k)*n + j] = c->A[held[k]*NV + j];
            K[j*n + NV + k] = -c->A[held[k]*NV + j];
        }
        for (i = 0; i < NSLIP; ++i)
            if (sl->slides[i] && takes_part(c, pushes, i) && slip_normal_rows[i] == held[k])
                for (j = 0; j < NV; ++j) {
                    K[j*n + NV + k] += c->mu[i]*sl->e[2*i]*c->A[slip_along_rows[2*i]*NV + j];
                    if (slip_along_rows[2*i + 1] >= 0)
                        K[j*n + NV + k] += c->mu[i]*sl->e[2*i + 1]*c->A[slip_along_rows[2*i + 1]*NV + j];
                }
    }
    least_squares(n, K, right, found);
    copy(jump, found, NV);
    for (k = 0; k < count; ++k)
        L[held[k]] = found[NV + k];
    for (i = 0; i < NSLIP; ++i)
        if (sl->slides[i] && takes_part(c, pushes, i))
            for (j = 0; j < 2; ++j)
                if (slip_along_rows[2*i + j] >= 0)
                    L[slip_along_rows[2*i + j]] = -c->mu[i]*L[slip_normal_rows[i]]*sl->e[2*i + j];
}

/* Whether a contact must slip, stick or slip along another direction; it is told so. */
static int turned_in_impact(const struck_case *c, const char *pushes, slide_state *sl, const double *jump, const double *L)
{
    double size = 1.0;
    int k, changed = 0;
    for (k = 0; k < NROWS; ++k)
        size = larger(size, fabs(c->u[k]));
    for (k = 0; k < NSLIP; ++k) {
        int a = slip_along_rows[2*k], b = slip_along_rows[2*k + 1];
        double sx, sy, pull, speed, mx, my, length;
        if (!takes_part(c, pushes, k))
            continue;
        sx = c->u[a] + row_times(c, a, jump);
        sy = b < 0 ? 0.0 : c->u[b] + row_times(c, b, jump);
        pull = hypot(L[a], b < 0 ? 0.0 : L[b]);
        if (!sl->slides[k]) {
            if (pull > c->mu[k]*larger(L[slip_normal_rows[k]], 0.0)*(1.0 + 1e-12)) {
                sl->slides[k] = 1;
                sl->e[2*k] = -L[a]/pull;
                sl->e[2*k + 1] = b < 0 ? 0.0 : -L[b]/pull;
                changed = 1;
            }
            continue;
        }
        speed = hypot(sx, sy);
        if (b < 0 && sx*sl->e[2*k] < -1e-12*size) {
            sl->slides[k] = 0;
            changed = 1;
        } else if (speed > 1e-12 && larger(fabs(sx/speed - sl->e[2*k]), fabs(sy/speed - sl->e[2*k + 1])) > 1e-10) {
            mx = sx/speed + sl->e[2*k];
            my = sy/speed + sl->e[2*k + 1];
            length = hypot(mx, my);
            sl->e[2*k] = length > 1e-6 ? mx/length : sx/speed;
            sl->e[2*k + 1] = length > 1e-6 ? my/length : sy/speed;
            changed = 1;
        }
    }
    return changed;
}

/* The jump and the impulses of all rows, with a share of the rebounds; 0 where no combination fits. */
static int solved(struck_case *c, double share, double *jump, double *L)
{
    slide_state sl;
    char pushes[NROWS];
    double size = 1.0;
    int k, round;
    for (k = 0; k < NSLIP; ++k)
        sl.slides[k] = 0;
    for (k = 0; k < NROWS; ++k) {
        pushes[k] = c->pushing[k];
        c->wanted[k] = row_times(c, k, c->jump);
        if (pushes[k])
            c->wanted[k] -= (1.0 - share)*larger(c->u[k] + c->wanted[k], 0.0);
        size = larger(size, fabs(c->u[k]));
    }
    for (round = 0; round < 200; ++round) {
        double most = 0.0, least = 0.0;
        int worst = -1;
        balance(c, pushes, &sl, jump, L);
        for (k = 0; k < NROWS; ++k)
            most = larger(most, fabs(L[k]));
        for (k = 0; k < NROWS; ++k)
            if (pushes[k] && L[k] < -1e-12*most && (worst < 0 || L[k] < L[worst]))
                worst = k;
        if (worst >= 0) {
            pushes[worst] = 0;
            continue;
        }
        for (k = 0; k < NROWS; ++k) {
            double after = c->u[k] + row_times(c, k, jump);
            if (c->touching[k] && !pushes[k] && after < share*c->asked[k] - 1e-12*size && (worst < 0 || after < least)) {
                worst = k;
                least = after;
            }
        }
        if (worst >= 0) {
            pushes[worst] = 1;
            c->wanted[worst] = share*c->asked[worst] - c->u[worst];
            continue;
        }
        if (!turned_in_impact(c, pushes, &sl, jump, L))
            return 1;
    }
    return 0;
}

/* The energy that is gained, beyond rounding. */
static double gain(const struck_case *c, const double *jump, const double *L)
{
    double total = 0.0, size = 0.0;
    int k;
    for (k = 0; k < NROWS; ++k) {
        double term = L[k]*(c->u[k] + 0.5*row_times(c, k, jump));
        total += term;
        size += fabs(term);
    }
    return total - 1e-12*size;
}

/* Put friction into an impact; whether it has any part in it. */
static int rub(STUDY_state *s, const impact_case *i, double *after, unsigned long acting)
{
    static struck_case c;
    double found[NFOUND], jump[NV], best[NV], L[NROWS], least = 0.0, most = 1.0;
    int k, moved = 0, round;
    for (k = 0; k < NX; ++k)
        moved |= after[k] != i->before[k];
    if (!moved)
        return 0;
    set_ranks(s, s->m);
    f_impact(s, i->t, i->before, s->m, c.A, c.u, c.M);
    look(s, i->t, after, found);
    for (k = 0; k < NV; ++k)
        c.jump[k] = after[NQ + k] - i->before[NQ + k];
    for (k = 0; k < NSLIP; ++k)
        c.mu[k] = slip_of(found, k)[7];
    for (k = 0; k < NROWS; ++k) {
        int owner = row_sided[k];
        unsigned long bit = owner < 0 ? 0ul : 1ul << owner;
        c.pushing[k] = row_kinds[k] == 1 && acting & bit ? 1 : 0;
        c.touching[k] = row_kinds[k] == 1 && i->touching & bit ? 1 : 0;
        c.holding[k] = row_kinds[k] == 2 && (owner < 0 || i->touching & bit) ? 1 : 0;
        c.asked[k] = c.touching[k] ? i->rebound[owner] : 0.0;
    }
    if (!solved(&c, 1.0, jump, L))
        return 1;
    copy(best, jump, NV);
    if (gain(&c, jump, L) > 0.0) {
        if (!solved(&c, 0.0, best, L) || gain(&c, best, L) > 0.0)
            return 1;
        for (round = 0; round < 60; ++round) {
            double share = 0.5*(least + most);
            if (solved(&c, share, jump, L) && gain(&c, jump, L) <= 0.0) {
                copy(best, jump, NV);
                least = share;
            } else {
                most = share;
            }
        }
    }
    for (k = 0; k < NV; ++k)
        after[NQ + k] = i->before[NQ + k] + best[k];
    return 1;
}
