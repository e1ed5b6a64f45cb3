/* FMI 3.0 around the study. The declarations are those of the standard, as far as they are needed. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "STUDY.h"

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef void *fmi3Instance;
typedef void *fmi3Environment;
typedef void *fmi3State;
typedef unsigned int fmi3Reference;
typedef const char *fmi3String;
typedef const uint8_t *fmi3Binary;
typedef bool fmi3Clock;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef void (*fmi3Log)(fmi3Environment, fmi3Status, fmi3String, fmi3String);

INSTANCE

static void told(instance *c, int status)
{
    int ends = status == STUDY_STOPPED;
    if (status != STUDY_OK && c->logger)
        c->logger(c->environment, ends ? fmi3OK : fmi3Error, ends ? "end" : "error", STUDY_message(status));
}

static instance *made(fmi3String name, fmi3String token, fmi3Environment environment, fmi3Log log)
{
    instance *c;
    if (!token || strcmp(token, GUID) != 0)
        return NULL;
    c = (instance *)calloc(1, sizeof(instance));
    if (!c)
        return NULL;
    c->logger = log;
    c->environment = environment;
    strncpy(c->name, name ? name : "", sizeof(c->name) - 1);
    STUDY_defaults(&c->s);
    return c;
}

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance c, bool on, size_t n, const fmi3String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi3OK;
}
EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String path, bool visible,
                                                 bool logging, fmi3Environment environment, fmi3Log log)
{
    (void)path, (void)visible, (void)logging;
    return EXCHANGE ? made(name, token, environment, log) : NULL;
}
EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String path, bool visible,
                                                bool logging, bool events, bool early, const fmi3Reference required[],
                                                size_t n, fmi3Environment environment, fmi3Log log, void *update)
{
    (void)path, (void)visible, (void)logging, (void)events, (void)early, (void)required, (void)n, (void)update;
    return EXCHANGE ? NULL : made(name, token, environment, log);
}
EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String path, bool visible,
                                                      bool logging, fmi3Environment environment, fmi3Log log,
                                                      void *clock, void *lock, void *unlock)
{
    (void)name, (void)token, (void)path, (void)visible, (void)logging, (void)environment, (void)log;
    (void)clock, (void)lock, (void)unlock;
    return NULL;
}
EXPORT void fmi3FreeInstance(fmi3Instance c) { free(c); }
EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance c, bool has_tolerance, double tolerance, double start,
                                              bool has_stop, double stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    ((instance *)c)->s.t = start;
    return fmi3OK;
}
EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance c) { return begin((instance *)c) ? fmi3Error : fmi3OK; }
EXPORT fmi3Status fmi3Reset(fmi3Instance c)
{
    instance *i = (instance *)c;
    STUDY_defaults(&i->s);
    i->changed = i->begun = 0;
    return fmi3OK;
}
EXPORT fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3Reference r[], size_t n, double value[], size_t count)
{
    return n == count && get((instance *)c, r, n, value) ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3Reference r[], size_t n, const double value[], size_t count)
{
    return n == count && set((instance *)c, r, n, value) ? fmi3OK : fmi3Error;
}

#define NOTHING(name)                                                                                                  \
    EXPORT fmi3Status name(fmi3Instance c)                                                                             \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        return fmi3OK;                                                                                                 \
    }
NOTHING(fmi3EnterEventMode)
NOTHING(fmi3Terminate)
NOTHING(fmi3EnterConfigurationMode)
NOTHING(fmi3ExitConfigurationMode)
NOTHING(fmi3EvaluateDiscreteStates)
NOTHING(fmi3EnterContinuousTimeMode)
NOTHING(fmi3EnterStepMode)

#define NONE(word, type)                                                                                               \
    EXPORT fmi3Status fmi3Get##word(fmi3Instance c, const fmi3Reference r[], size_t n, type value[], size_t count)     \
    {                                                                                                                  \
        (void)c, (void)r, (void)value, (void)count;                                                                    \
        return n ? fmi3Error : fmi3OK;                                                                                 \
    }                                                                                                                  \
    EXPORT fmi3Status fmi3Set##word(fmi3Instance c, const fmi3Reference r[], size_t n, const type value[],             \
                                    size_t count)                                                                      \
    {                                                                                                                  \
        (void)c, (void)r, (void)value, (void)count;                                                                    \
        return n ? fmi3Error : fmi3OK;                                                                                 \
    }
NONE(Float32, float)
NONE(Int8, int8_t)
NONE(UInt8, uint8_t)
NONE(Int16, int16_t)
NONE(UInt16, uint16_t)
NONE(Int32, int32_t)
NONE(UInt32, uint32_t)
NONE(Int64, int64_t)
NONE(UInt64, uint64_t)
NONE(Boolean, bool)
NONE(String, fmi3String)

EXPORT fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3Reference r[], size_t n, size_t sizes[], fmi3Binary value[],
                                size_t count)
{
    (void)c, (void)r, (void)sizes, (void)value, (void)count;
    return n ? fmi3Error : fmi3OK;
}
EXPORT fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3Reference r[], size_t n, const size_t sizes[],
                                const fmi3Binary value[], size_t count)
{
    (void)c, (void)r, (void)sizes, (void)value, (void)count;
    return n ? fmi3Error : fmi3OK;
}

#define CLOCK1(name, type)                                                                                             \
    EXPORT fmi3Status name(fmi3Instance c, const fmi3Reference r[], size_t n, type value[])                            \
    {                                                                                                                  \
        (void)c, (void)r, (void)value;                                                                                 \
        return n ? fmi3Error : fmi3OK;                                                                                 \
    }
#define CLOCK2(name, type, other)                                                                                      \
    EXPORT fmi3Status name(fmi3Instance c, const fmi3Reference r[], size_t n, type value[], other second[])            \
    {                                                                                                                  \
        (void)c, (void)r, (void)value, (void)second;                                                                   \
        return n ? fmi3Error : fmi3OK;                                                                                 \
    }
CLOCK1(fmi3GetClock, fmi3Clock)
CLOCK1(fmi3SetClock, const fmi3Clock)
CLOCK1(fmi3GetShiftDecimal, double)
CLOCK1(fmi3SetShiftDecimal, const double)
CLOCK1(fmi3SetIntervalDecimal, const double)
CLOCK2(fmi3GetIntervalDecimal, double, int)
CLOCK2(fmi3GetShiftFraction, uint64_t, uint64_t)
CLOCK2(fmi3SetShiftFraction, const uint64_t, const uint64_t)
CLOCK2(fmi3SetIntervalFraction, const uint64_t, const uint64_t)
EXPORT fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3Reference r[], size_t n, uint64_t counters[],
                                          uint64_t resolutions[], int qualifiers[])
{
    (void)c, (void)r, (void)counters, (void)resolutions, (void)qualifiers;
    return n ? fmi3Error : fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3Reference r, size_t *n)
{
    (void)c, (void)r, (void)n;
    return fmi3Error;
}
EXPORT fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3Reference r, size_t a[], fmi3Reference b[],
                                              size_t d[], int kinds[], size_t n)
{
    (void)c, (void)r, (void)a, (void)b, (void)d, (void)kinds, (void)n;
    return fmi3Error;
}
EXPORT fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3State *state)
{
    if (!*state)
        *state = malloc(sizeof(instance));
    if (!*state)
        return fmi3Error;
    memcpy(*state, c, sizeof(instance));
    return fmi3OK;
}
EXPORT fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3State state)
{
    memcpy(c, state, sizeof(instance));
    return fmi3OK;
}
EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3State *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi3OK;
}
EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3State state, size_t *size)
{
    (void)c, (void)state, (void)size;
    return fmi3Error;
}
EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3State state, uint8_t bytes[], size_t size)
{
    (void)c, (void)state, (void)bytes, (void)size;
    return fmi3Error;
}
EXPORT fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const uint8_t bytes[], size_t size, fmi3State *state)
{
    (void)c, (void)bytes, (void)size, (void)state;
    return fmi3Error;
}
EXPORT fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3Reference z[], size_t nz,
                                               const fmi3Reference v[], size_t nv, const double dv[], size_t ndv,
                                               double dz[], size_t ndz)
{
    (void)c, (void)z, (void)nz, (void)v, (void)nv, (void)dv, (void)ndv, (void)dz, (void)ndz;
    return fmi3Error;
}
EXPORT fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3Reference z[], size_t nz, const fmi3Reference v[],
                                           size_t nv, const double dz[], size_t ndz, double dv[], size_t ndv)
{
    (void)c, (void)z, (void)nz, (void)v, (void)nv, (void)dv, (void)ndv, (void)dz, (void)ndz;
    return fmi3Error;
}
EXPORT fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3Reference r[], size_t n, const int32_t orders[],
                                           double value[], size_t count)
{
    (void)c, (void)r, (void)orders, (void)value, (void)count;
    return n ? fmi3Error : fmi3OK;
}
EXPORT fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3Reference clock, double t)
{
    (void)c, (void)clock, (void)t;
    return fmi3Error;
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, bool *again, bool *end, bool *nominals, bool *values,
                                           bool *defined, double *next)
{
    instance *i = (instance *)c;
    *values = i->moved || STUDY_happened(&i->s);
    i->moved = 0;
    *again = *nominals = false;
    *end = i->s.status == STUDY_STOPPED;
    *next = STUDY_next_time(&i->s);
    *defined = *next < INFINITY;
    told(i, i->s.status);
    return i->s.status == STUDY_OK || *end ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, bool no_way_back, bool *event, bool *end)
{
    (void)no_way_back;
    *event = STUDY_drifted(&((instance *)c)->s) != 0;
    *end = false;
    return fmi3OK;
}
EXPORT fmi3Status fmi3SetTime(fmi3Instance c, double t)
{
    ((instance *)c)->s.t = t;
    return fmi3OK;
}
EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance c, const double x[], size_t n)
{
    if (n != NX)
        return fmi3Error;
    memcpy(((instance *)c)->s.x, x, n*sizeof(double));
    return fmi3OK;
}
EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, double dx[], size_t n)
{
    STUDY_rate(&((instance *)c)->s, dx);
    return n == NX && finite(dx, NX) ? fmi3OK : fmi3Discard;
}
EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance c, double g[], size_t n)
{
    STUDY_indicators(&((instance *)c)->s, g);
    return n == NG ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance c, double x[], size_t n)
{
    if (n != NX)
        return fmi3Error;
    memcpy(x, ((instance *)c)->s.x, n*sizeof(double));
    return fmi3OK;
}
EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, double x[], size_t n)
{
    size_t k;
    (void)c;
    for (k = 0; k < n; ++k)
        x[k] = 1.0;
    return fmi3OK;
}
EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n)
{
    (void)c;
    *n = NG;
    return fmi3OK;
}
EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n)
{
    (void)c;
    *n = NX;
    return fmi3OK;
}
EXPORT fmi3Status fmi3DoStep(fmi3Instance c, double t, double h, bool no_way_back, bool *event, bool *end, bool *early,
                             double *last)
{
    instance *i = (instance *)c;
    (void)no_way_back;
    STUDY_advance(&i->s, t + h);
    *event = *early = false;
    *end = i->s.status == STUDY_STOPPED;
    *last = i->s.t;
    told(i, i->s.status);
    return i->s.status == STUDY_OK || *end ? fmi3OK : fmi3Error;
}
