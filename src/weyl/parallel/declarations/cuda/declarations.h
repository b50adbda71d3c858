// c10d's NCCL names handles and states of CUDA's libraries for matrices, which it never uses. They are declared here, so that the
// packages of these libraries (800 MB) are not needed to build. CUDA's runtime and NCCL itself are taken from their own headers.
#pragma once

using cublasHandle_t = struct cublasContext*;
using cublasLtHandle_t = struct cublasLtContext*;
using cusparseHandle_t = struct cusparseContext*;
using cusolverDnHandle_t = struct cusolverDnContext*;
enum cublasStatus_t : int;
enum cusparseStatus_t : int;
enum cusolverStatus_t : int;
