/* FMI 2.0 around the study. The declarations are those of the standard, as far as they are needed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "STUDY.h"

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

INSTANCE

static void told(instance *c, int status)
{
    int ends = status == STUDY_STOPPED;
    if (status != STUDY_OK && c->logger)
        c->logger(c->environment, c->name, ends ? fmi2OK : fmi2Error, ends ? "end" : "error", "%s",
                  STUDY_message(status));
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi2OK;
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String location,
                                     const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    instance *c;
    (void)location, (void)visible, (void)logging;
    if (!guid || strcmp(guid, GUID) != 0 || type != (EXCHANGE ? fmi2ModelExchange : fmi2CoSimulation))
        return NULL;
    c = (instance *)calloc(1, sizeof(instance));
    if (!c)
        return NULL;
    c->logger = functions ? functions->logger : NULL;
    c->environment = functions ? functions->componentEnvironment : NULL;
    strncpy(c->name, name ? name : "", sizeof(c->name) - 1);
    STUDY_defaults(&c->s);
    return c;
}

EXPORT void fmi2FreeInstance(fmi2Component c) { free(c); }
EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                                      fmi2Boolean has_stop, fmi2Real stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    ((instance *)c)->s.t = start;
    return fmi2OK;
}
EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return begin((instance *)c) ? fmi2Error : fmi2OK; }
EXPORT fmi2Status fmi2Terminate(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}
EXPORT fmi2Status fmi2Reset(fmi2Component c)
{
    instance *i = (instance *)c;
    STUDY_defaults(&i->s);
    i->changed = i->begun = 0;
    return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Real value[])
{
    return get((instance *)c, r, n, value) ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Real value[])
{
    return set((instance *)c, r, n, value) ? fmi2OK : fmi2Error;
}
#define NONE(name, type)                                                                                               \
    EXPORT fmi2Status name(fmi2Component c, const fmi2ValueReference r[], size_t n, type value[])                      \
    {                                                                                                                  \
        (void)c, (void)r, (void)value;                                                                                 \
        return n ? fmi2Error : fmi2OK;                                                                                 \
    }
NONE(fmi2GetInteger, fmi2Integer)
NONE(fmi2GetBoolean, fmi2Boolean)
NONE(fmi2GetString, fmi2String)
NONE(fmi2SetInteger, const fmi2Integer)
NONE(fmi2SetBoolean, const fmi2Boolean)
NONE(fmi2SetString, const fmi2String)

EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    if (!*state)
        *state = malloc(sizeof(instance));
    if (!*state)
        return fmi2Error;
    memcpy(*state, c, sizeof(instance));
    return fmi2OK;
}
EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    memcpy(c, state, sizeof(instance));
    return fmi2OK;
}
EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi2OK;
}
EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c, (void)state, (void)size;
    return fmi2Error;
}
EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    (void)c, (void)state, (void)bytes, (void)size;
    return fmi2Error;
}
EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    (void)c, (void)bytes, (void)size, (void)state;
    return fmi2Error;
}
EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference z[], size_t nz,
                                               const fmi2ValueReference v[], size_t nv, const fmi2Real dv[],
                                               fmi2Real dz[])
{
    (void)c, (void)z, (void)nz, (void)v, (void)nv, (void)dv, (void)dz;
    return fmi2Error;
}

EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}
EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    instance *i = (instance *)c;
    int moved = i->moved || STUDY_happened(&i->s);
    i->moved = 0;
    info->newDiscreteStatesNeeded = 0;
    info->terminateSimulation = i->s.status == STUDY_STOPPED;
    info->nominalsOfContinuousStatesChanged = 0;
    info->valuesOfContinuousStatesChanged = moved;
    info->nextEventTime = STUDY_next_time(&i->s);
    info->nextEventTimeDefined = info->nextEventTime < INFINITY;
    told(i, i->s.status);
    return i->s.status == STUDY_OK || i->s.status == STUDY_STOPPED ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}
EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_way_back, fmi2Boolean *event,
                                              fmi2Boolean *end)
{
    (void)no_way_back;
    *event = STUDY_drifted(&((instance *)c)->s);
    *end = 0;
    return fmi2OK;
}
EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t)
{
    ((instance *)c)->s.t = t;
    return fmi2OK;
}
EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    memcpy(((instance *)c)->s.x, x, n*sizeof(double));
    return n == NX ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t n)
{
    STUDY_rate(&((instance *)c)->s, dx);
    return n == NX && finite(dx, NX) ? fmi2OK : fmi2Discard;
}
EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real g[], size_t n)
{
    STUDY_indicators(&((instance *)c)->s, g);
    return n == NG ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    memcpy(x, ((instance *)c)->s.x, n*sizeof(double));
    return n == NX ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    size_t k;
    (void)c;
    for (k = 0; k < n; ++k)
        x[k] = 1.0;
    return fmi2OK;
}
EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
                                              const fmi2Integer order[], const fmi2Real value[])
{
    (void)c, (void)r, (void)n, (void)order, (void)value;
    return fmi2Error;
}
EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
                                               const fmi2Integer order[], fmi2Real value[])
{
    (void)c, (void)r, (void)n, (void)order, (void)value;
    return fmi2Error;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_way_back)
{
    instance *i = (instance *)c;
    (void)no_way_back;
    STUDY_advance(&i->s, t + h);
    told(i, i->s.status);
    return i->s.status == STUDY_OK ? fmi2OK : i->s.status == STUDY_STOPPED ? fmi2Discard : fmi2Error;
}
EXPORT fmi2Status fmi2CancelStep(fmi2Component c)
{
    (void)c;
    return fmi2Error;
}
EXPORT fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}
EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    *value = ((instance *)c)->s.t;
    return kind == fmi2LastSuccessfulTime ? fmi2OK : fmi2Discard;
}
EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}
EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    *value = ((instance *)c)->s.status == STUDY_STOPPED;
    return kind == fmi2Terminated ? fmi2OK : fmi2Discard;
}
EXPORT fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}
