/* An arm under computed torque, in C alone: plant and controller are functions that Torseur exported.
 *
 * The controller renews its torques every 2 ms and holds them; the plant is integrated by RK4 with 1 ms.
 * Prints time, angles and torques; see README.md. */
#include <stdio.h>

#include "planar_2r.h"

enum { N = 2, STEPS = 2000, HOLD = 2 };

static const double H = 1e-3, KP = 100.0, KD = 20.0;
static const double TARGET[N] = {1.0, -0.5};
static const double P[] = {0.5, 0.4, 4.0, 2.5, 0.06, 0.03}; /* l1 l2 m1 m2 j1 j2, as README.md of the export says */

static double work_of_plant[planar_2r_forward_dynamics_WORK];
static double work_of_law[planar_2r_inverse_dynamics_WORK];

/* tau such that the errors obey e'' + KD e' + KP e = 0 */
static void control(const double q[N], const double v[N], double tau[N])
{
    const double u[N] = {0.0, 0.0};
    double vdot[N];
    for (int i = 0; i < N; i++)
        vdot[i] = KP * (TARGET[i] - q[i]) - KD * v[i];
    planar_2r_inverse_dynamics(q, v, vdot, u, P, work_of_law, tau);
}

/* d(q, v)/dt */
static void rate(const double x[2 * N], const double tau[N], double dx[2 * N])
{
    const double u[N] = {0.0, 0.0};
    for (int i = 0; i < N; i++)
        dx[i] = x[N + i];
    planar_2r_forward_dynamics(x, x + N, tau, u, P, work_of_plant, dx + N);
}

static void step(double x[2 * N], const double tau[N])
{
    const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[2 * N] = {0}, sum[2 * N] = {0}, y[2 * N];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 2 * N; i++)
            y[i] = x[i] + part[s] * H * k[i];
        rate(y, tau, k);
        for (int i = 0; i < 2 * N; i++)
            sum[i] += weight[s] * k[i];
    }
    for (int i = 0; i < 2 * N; i++)
        x[i] += H * sum[i];
}

int main(void)
{
    double x[2 * N] = {0.0, 0.3, 0.0, 0.0}, tau[N] = {0.0, 0.0};
    planar_2r_forward_dynamics_prologue(P, work_of_plant); /* again when parameters change */
    planar_2r_inverse_dynamics_prologue(P, work_of_law);
    for (int k = 0; k <= STEPS; k++) {
        if (k % HOLD == 0)
            control(x, x + N, tau);
        if (k % 100 == 0)
            printf("%.3f %.17g %.17g %.17g %.17g\n", k * H, x[0], x[1], tau[0], tau[1]);
        step(x, tau);
    }
    return 0;
}
