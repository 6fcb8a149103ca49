/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* EWTCP (Honda et al., PFLDNeT 2009): WUTCP(1/m^2) with TCP's slow start. README.md says what the kernel makes of it. */
#define CONTROLLER ewtcp
#include "weighted.h"
