/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* WUTCP(omega): omega by the number of subflows m, 1/m unless it is set. README.md says what the kernel makes of it. */
#define CONTROLLER wutcp
#include "weighted.h"
