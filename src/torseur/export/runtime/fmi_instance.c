#define NX STUDY_NX
#define NU STUDY_NU
#define NP STUDY_NP
#define NG STUDY_NG
#define NY STUDY_NY

/* Value references: states, their derivatives, inputs, parameters, outputs, one after the other. */
#define DERIVATIVES NX
#define INPUTS (DERIVATIVES + NX)
#define PARAMETERS (INPUTS + NU)
#define OUTPUTS (PARAMETERS + NP)
#define TIME (OUTPUTS + NY)

typedef struct {
    STUDY_state s;
    LOGGER
    ENVIRONMENT environment;
    char name[256];
    int changed, begun, moved;
    double y[NY > 0 ? NY : 1], dx[NX], g[NG > 0 ? NG : 1];
} instance;

static int finite(const double *x, int n)
{
    int k;
    for (k = 0; k < n; ++k)
        if (!(fabs(x[k]) < INFINITY))
            return 0;
    return 1;
}

static int begin(instance *c)
{
    if (c->changed)
        STUDY_reset(&c->s);
    c->moved = c->changed;
    c->changed = 0;
    c->begun = 1;
    return STUDY_init(&c->s);
}

static int get(instance *c, const unsigned int *r, size_t n, double *value)
{
    size_t k;
    int known = 0, rated = 0;
    if (!c->begun) {
        instance trial = *c;
        if (trial.changed)
            STUDY_reset(&trial.s);
        STUDY_init(&trial.s);
        STUDY_outputs(&trial.s, c->y);
        RATE(&trial.s, c->dx, c->y);
        known = rated = 1;
    }
    for (k = 0; k < n; ++k) {
        if (r[k] >= OUTPUTS && !known) {
            STUDY_outputs(&c->s, c->y);
            known = 1;
        }
        if (r[k] >= DERIVATIVES && r[k] < INPUTS && !rated) {
            STUDY_outputs(&c->s, c->y);
            RATE(&c->s, c->dx, c->y);
            known = rated = 1;
        }
        if (r[k] < DERIVATIVES)
            value[k] = c->s.x[r[k]];
        else if (r[k] < INPUTS)
            value[k] = c->dx[r[k] - DERIVATIVES];
        else if (r[k] < PARAMETERS)
            value[k] = c->s.u[r[k] - INPUTS];
        else if (r[k] < OUTPUTS)
            value[k] = c->s.p[r[k] - PARAMETERS];
        else if (r[k] < TIME)
            value[k] = c->y[r[k] - OUTPUTS];
        else if (r[k] == TIME)
            value[k] = c->s.t;
        else if (r[k] <= TIME + NG) {
            INDICATE(&c->s, c->g);
            value[k] = c->g[r[k] - TIME - 1];
        } else
            return 0;
    }
    return 1;
}

static int set(instance *c, const unsigned int *r, size_t n, const double *value)
{
    size_t k;
    for (k = 0; k < n; ++k) {
        double *place;
        if (r[k] < DERIVATIVES && !c->begun)
            place = &c->s.x[r[k]];
        else if (r[k] >= INPUTS && r[k] < PARAMETERS)
            place = &c->s.u[r[k] - INPUTS];
        else if (r[k] >= PARAMETERS && r[k] < OUTPUTS && !c->begun)
            place = &c->s.p[r[k] - PARAMETERS];
        else
            return 0;
        if (*place != value[k] && !c->begun)
            c->changed = 1;
        *place = value[k];
    }
    return 1;
}
