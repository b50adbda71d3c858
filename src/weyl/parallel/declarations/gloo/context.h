#pragma once

#include "weyl/parallel/declarations/gloo/declarations.h"
