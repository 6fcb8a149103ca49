/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Semicoupled, in its RTT-weighted form: EUTCP(1). README.md says what the kernel makes of it. */
#define CONTROLLER semicoupled
#include "pooled.h"
