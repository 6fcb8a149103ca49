/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* EUTCP(gamma), with one gamma or one for each subflow. README.md says what the kernel makes of it. */
#define CONTROLLER eutcp
#include "pooled.h"
