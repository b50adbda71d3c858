#pragma once

#include "weyl/parallel/declarations/cuda/declarations.h"
