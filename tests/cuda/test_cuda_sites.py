"""Which site is counted, with which arguments, and which near miss is not?"""

from __future__ import annotations

import pytest

from stagebench.facts.cuda_index import CudaIndex
from stagebench.facts.cuda_sites import CudaSyntaxError, read_cuda, sync_totals
from stagebench.facts.cuda_syntax import language, parse_cuda
from stagebench.facts.cuda_walk import BLOCKS, LEAVES, FunctionReader

POSITIVE = [
    ("tl::cp_async_gs<16>(a, b);", "cp_async_copy", {"bytes": 16}),
    (
        "tl::cp_async_gs_conditional<8>(a, b, (K < 3));",
        "cp_async_copy",
        {"bytes": 8, "predicate": "K < 3"},
    ),
    ("tl::cp_async_commit();", "cp_async_commit", {}),
    ("tl::cp_async_wait<2>();", "cp_async_wait", {"max_pending": 2}),
    ("tl::cp_async_wait<N>();", "cp_async_wait", {"max_pending": "N"}),
    (
        "tl::tma_load(A_desc, bar[0], smem, 0, 0);",
        "tma_load",
        {"descriptor": "A_desc", "barrier": "bar[0]"},
    ),
    (
        "tl::tma_load<tl::CacheHintSm90::EVICT_FIRST>(A_desc, bar[K & 1], smem, 0);",
        "tma_load",
        {
            "cache_hint": "tl::CacheHintSm90::EVICT_FIRST",
            "descriptor": "A_desc",
            "barrier": "bar[K & 1]",
        },
    ),
    (
        "tl::tma_load(smem, global, bar[0], 128);",
        "tma_load",
        {"mode": "bulk", "barrier": "bar[0]", "bytes": 128},
    ),
    (
        "tl::tma_load_multicast(A_desc, bar[0], smem, (uint16_t)(3), 0);",
        "tma_load",
        {"mode": "multicast", "descriptor": "A_desc", "barrier": "bar[0]", "mask": 3},
    ),
    ("tl::tma_store(C_desc, smem, 0, 0);", "tma_store", {"destination": "C_desc"}),
    ("tl::tma_store_arrive();", "tma_store_commit", {}),
    ("tl::tma_store_wait<0, true>();", "tma_store_wait", {"max_pending": 0, "read": 1}),
    (
        "tl::prefetch_tma_descriptor(A_desc);",
        "tma_prefetch_descriptor",
        {"descriptor": "A_desc"},
    ),
    ("bar[2].init(128);", "mbarrier_init", {"barrier": "bar[2]", "count": 128}),
    ("bar[0].arrive();", "mbarrier_arrive", {"barrier": "bar[0]"}),
    ("bar[0].arrive(1u);", "mbarrier_arrive", {"barrier": "bar[0]", "cta": 1}),
    ("bar[0].expect_transaction(64);", "mbarrier_expect_tx", {"barrier": "bar[0]", "bytes": 64}),
    (
        "bar[((K & 1) + 2)].wait((((K & 3) >> 1) ^ 1));",
        "mbarrier_wait",
        {"barrier": "bar[(K & 1) + 2]", "parity": "((K & 3) >> 1) ^ 1"},
    ),
    ("bar[0].try_wait(0);", "mbarrier_try_wait", {"barrier": "bar[0]", "parity": 0}),
    (
        "tl::mbarrier_cp_async_arrive_noinc(bar[1]);",
        "mbarrier_arrive",
        {"via": "cp_async_noinc", "barrier": "bar[1]"},
    ),
    (
        "tl::wgmma_ss<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 64,"
        " 128, 16, false, true, 1, -1>(a, b, c, 1);",
        "wgmma",
        {"shape": "m64n128k16", "types": "Float16, Float16, Float32"},
    ),
    ("tl::warpgroup_arrive();", "wgmma_fence", {}),
    ("tl::warpgroup_commit_batch();", "wgmma_commit", {}),
    ("tl::warpgroup_wait<1>();", "wgmma_wait", {"max_pending": 1}),
    (
        "tl::mma_sync<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16,"
        " 8, 16, false, true>(a, b, c);",
        "mma_sync",
        {"shape": "m16n8k16", "types": "Float16, Float16, Float32"},
    ),
    (
        "tl::tcgen05mma_ss<tl::DataType::kBFloat16, false>(uint64_t(a), uint64_t(b), 0, 0, 0, 0);",
        "tcgen05_mma",
        {"type": "tl::DataType::kBFloat16"},
    ),
    ("tl::tcgen05_mma_arrive((&(bar[0])));", "tcgen05_commit", {"barrier": "bar[0]"}),
    ("tl::tcgen05_before_thread_sync();", "tcgen05_fence", {"when": "before"}),
    ("tl::tcgen05_after_thread_sync();", "tcgen05_fence", {"when": "after"}),
    ("tl::fence_view_async_tmem_load();", "tcgen05_wait", {"kind": "ld"}),
    ("tl::tmem_allocate((&(tmem[0])), 128);", "tcgen05_alloc", {"columns": 128}),
    ("tl::tmem_deallocate<true>((&(tmem[0])), 128);", "tcgen05_dealloc", {"columns": 128}),
    ("__syncthreads();", "syncthreads", {}),
    ("A[0] = __syncthreads_or(K);", "syncthreads", {"reduction": "or"}),
    (
        "tl::__sync_thread_partial(3, 128);",
        "partial_barrier",
        {"barrier_id": 3, "threads": 128},
    ),
    (
        "tl::__named_barrier_arrive(3, 256);",
        "partial_barrier_arrive",
        {"barrier_id": 3, "threads": 256},
    ),
    ("__syncwarp();", "warp_sync", {}),
    ("tl::cluster_sync();", "cluster_sync", {}),
    ("tl::cluster_arrive_relaxed();", "cluster_arrive", {"order": "relaxed"}),
    ("tl::cluster_wait();", "cluster_wait", {}),
    ("cooperative_groups::this_grid().sync();", "grid_sync", {}),
    ("tl::fence_proxy_async();", "fence_proxy_async", {}),
    ("tl::fence_barrier_init();", "fence_barrier_init", {}),
    ("__threadfence_block();", "threadfence", {"scope": "cta"}),
    ("tl::warpgroup_reg_alloc<240>();", "setmaxnreg", {"increase": 1, "registers": 240}),
    ("tl::warpgroup_reg_dealloc<24>();", "setmaxnreg", {"increase": 0, "registers": 24}),
    ("cudaGridDependencySynchronize();", "griddepcontrol", {"kind": "wait"}),
    (
        "cudaTriggerProgrammaticLaunchCompletion();",
        "griddepcontrol",
        {"kind": "launch_dependents"},
    ),
]


@pytest.mark.parametrize(("body", "op", "args"), POSITIVE, ids=[case[0][:32] for case in POSITIVE])
def test_smallest_positive(sites, body, op, args):
    """One call of each operation is one site, with what its arguments say."""
    assert sites(body) == [(op, args)]


def test_arrive_and_expect_is_two_sites_on_one_line(read_body):
    """One call with two effects is an arrival and an expected transaction."""
    first, second = read_body("bar[0].arrive_and_expect_tx(8192);").sites
    assert (first.op, second.op) == ("mbarrier_arrive", "mbarrier_expect_tx")
    assert (first.line, first.callee) == (second.line, second.callee)
    assert second.args == {"barrier": "bar[0]", "bytes": 8192}


@pytest.mark.parametrize(
    "body",
    [
        "// __syncthreads();",
        "/* tl::cp_async_commit(); */",
        'printf("__syncthreads(); tl::cp_async_wait<0>();");',
        'const char* s = R"(tl::cp_async_commit();)";',
        "#pragma unroll\n  A[0] = make_float4(0, 0, 0, 0).x;",
        "tl::ptx_ldmatrix_x4_trans((&(a[0])), (&(b[0])));",
        "tl::warpgroup_fence_operand(reinterpret_cast<float*>(A + 0), 128);",
        "A[0] = __shfl_xor_sync(0xffffffff, A[0], 1) + __ballot_sync(1, K);",
        "int cp_async = 3; int wgmma = cp_async; A[0] = wgmma;",
        "if (tl::tl_shuffle_elect<128>()) { A[0] = half_t(0x0p+0f/*0.000000e+00*/); }",
        "((half2*)(&A))[0] = __float22half2_rn(((float2*)(&A))[0]);",
        "AtomicAdd((&(A[0])), exp2f(A[1]));",
        "const dim3 blockIdx = tl::rasterization2DRow<10>();",
        "bool p = ((K < 3) && (A[0] > (float)(2)));",
    ],
)
def test_what_synchronises_nothing_is_no_site(ops, body):
    """Text, casts, arithmetic, warp exchange and register copies are neither sites nor unknown."""
    assert ops(body) == []


@pytest.mark.parametrize(
    ("body", "op"),
    [
        ("my_cp_async_commit();", "unknown:my_cp_async_commit"),
        ("tl::cp_async_commit_all();", "unknown:tl::cp_async_commit_all"),
        ("cp_async_commit();", "unknown:cp_async_commit"),
        ("other::cp_async_wait<0>();", "unknown:other::cp_async_wait"),
        ("__syncthreads_v2();", "unknown:__syncthreads_v2"),
        ("tl::brand_new<tl::DataType::kFloat16, 3>(A);", "unknown:tl::brand_new"),
        ("semaphore.wait(3);", "unknown:.wait"),
        ("bar[0].wait_until(3);", "unknown:.wait_until"),
        ("cg::grid_group g; g.sync();", "unknown:.sync"),
        ("callbacks[0](K);", "unknown:callbacks[0]"),
        ("HEADER_MACRO;", "unknown:HEADER_MACRO"),
        ("k2<<<1, 2>>>(A);", "unknown:k2"),
        ("Scoped lock(K);", "unknown:Scoped"),
        ("goto end; end: ;", "unknown:goto"),
        ("auto p = new int;", "unknown:new"),
        ("tl::clc_try_cancel(A, A);", "unknown:clc_try_cancel"),
        ("foo<K>(A);", "unknown:foo"),
        ("A[0] = g3(K < 1, 2 > (A[1])) ;", "unknown:g3"),
    ],
)
def test_what_nobody_described_is_unknown_by_name(ops, body, op):
    """A near miss is neither counted as the operation that it resembles nor dropped."""
    assert op in ops(body)
    assert all(found.startswith("unknown:") for found in ops(body))


def test_near_misses_of_known_names_are_themselves(ops):
    """A prefetch is no load, a warpgroup wait no cp.async wait, a store wait no store."""
    body = "tl::prefetch_tma_descriptor(d); tl::warpgroup_wait<0>(); tl::tma_store_wait<0>();"
    assert ops(body) == ["tma_prefetch_descriptor", "wgmma_wait", "tma_store_wait"]


@pytest.mark.parametrize(
    "body",
    ["auto f = tl::cp_async_commit;", "use(&__syncthreads);", "A[0] = tl::cp_async_wait<0> < 3;"],
)
def test_a_synchronising_name_outside_a_call_is_reported(ops, body):
    """Were a call ever read as something else, its name would still show up."""
    assert any(op.startswith("unknown:") for op in ops(body))


def test_a_template_call_read_as_comparisons_is_reported(ops):
    """``g(foo<n, m>(x), 2)`` can be read as two comparisons; ``foo`` is not lost either way."""
    assert "unknown:foo" in ops("A[0] = max(foo<n, m>(x), 2);")
    assert "unknown:ns::foo" in ops("A[0] = max(ns::foo<n, m>(x), 2);")


@pytest.mark.parametrize(
    ("define", "use", "expected"),
    [
        ("#define SYNC __syncthreads()", "SYNC;", ["unknown:SYNC"]),
        ("#define SYNC() __syncthreads()", "SYNC();", ["unknown:SYNC"]),
        ("#define WAIT(n) bar[n].wait(0)", "WAIT(1);", ["unknown:WAIT"]),
        ("#define N 3", "A[N] = N;", []),
        ("#define uint unsigned int", "uint x = 3;", []),
        ("#define MAX3(a, b, c) max((a), max((b), (c)))", "A[0] = MAX3(1, 2, 3);", []),
        ("#define make_float4(a) __syncthreads()", "make_float4(1);", ["unknown:make_float4"]),
    ],
)
def test_macros_are_not_looked_into(ops, define, use, expected):
    """A macro that could call anything is unknown where it is used; a number or a type is not."""
    assert ops(use, define) == expected


def test_guards_and_branches(read_body):
    """A site knows the conditions around it, also those of ``?:`` and ``&&``."""
    body = """
    if (((int)threadIdx.x) < 128) { __syncthreads(); }
    else if (K == 3) __syncwarp();
    else { K > 4 ? tl::cp_async_commit() : tl::warpgroup_arrive(); }
    if (K && __syncthreads_or(K)) { A[0] = 1; }
    switch (K) { case 1: tl::cluster_sync(); break; default: tl::cluster_wait(); }
    """
    assert [(site.op, site.guards) for site in read_body(body).sites] == [
        ("syncthreads", ("threadIdx.x < 128",)),
        ("warp_sync", ("!(threadIdx.x < 128)", "K == 3")),
        ("cp_async_commit", ("!(threadIdx.x < 128)", "!(K == 3)", "K > 4")),
        ("wgmma_fence", ("!(threadIdx.x < 128)", "!(K == 3)", "!(K > 4)")),
        ("syncthreads", ("K",)),
        ("cluster_sync", ("switch K: case 1",)),
        ("cluster_wait", ("switch K: default",)),
    ]


def test_both_sides_of_a_preprocessor_branch_count(read_body):
    """Which side is compiled is not ours to know: both are sites, with the condition as guard."""
    body = "\n#ifdef FAST\n  __syncwarp();\n#else\n  __syncthreads();\n#endif\n"
    assert [(site.op, site.guards) for site in read_body(body).sites] == [
        ("warp_sync", ("#ifdef FAST",)),
        ("syncthreads", ("!(#ifdef FAST)",)),
    ]


def test_device_functions_count_where_they_are_called(read_body):
    """A called device function's sites are the kernel's, in its loops; others' are not."""
    before = """
    __device__ void unused() { __syncthreads(); }
    __device__ void inner(int bytes) { tl::cluster_sync(); asm("mbarrier.expect_tx.b64 [%0], %1;" ::
      "r"(0), "r"(bytes)); }
    namespace ns { __device__ void outer(int n) { for (int j = 0; j < 2; ++j) inner(n); } }
    """
    kernel = read_body("for (int i = 0; i < 3; ++i) { ns::outer(64); }", before)
    assert [(site.op, site.dynamic, site.line, site.via) for site in kernel.sites] == [
        ("cluster_sync", 6, 10, ("ns::outer", "inner")),
        ("mbarrier_expect_tx", 6, 10, ("ns::outer", "inner")),
    ]
    assert kernel.sites[1].args["bytes"] == 64


def test_recursion_and_overloads_are_unknown(ops):
    """What can't be resolved by name alone is unknown, unless no candidate synchronises."""
    recursive = "__device__ void f(int n) { f(n); __syncthreads(); }"
    assert ops("f(K);", recursive) == ["unknown:f", "syncthreads"]
    overloads = "__device__ void f(int n) { __syncthreads(); }\n__device__ void f(float n) {}"
    assert ops("f(K);", overloads) == ["unknown:f"]
    harmless = "__device__ void f(int n) {}\n__device__ void f(float n) {}"
    assert ops("f(K);", harmless) == []


def test_a_library_template_is_not_a_local_method_of_the_same_name(ops):
    """``tl::AllReduce<…>::run`` is the library's, whatever struct of the file also has ``run``."""
    before = "struct Mine { __device__ void run() { __syncthreads(); } };"
    assert ops("A[0] = tl::AllReduce<tl::SumOp, 4, 1, 0>::run(A[0]);", before) == []
    assert ops("Mine m; m.run();", before) == ["syncthreads"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "tl::AllReduce<tl::SumOp, 128, 1, 0, tl::NamedBarrier<256>>::run(A[0], A)",
            [
                ("partial_barrier", {"barrier_id": 1, "threads": 256}, 2, 8),
                ("partial_barrier", {"barrier_id": 2, "threads": 256}, 2, 8),
            ],
        ),
        ("tl::AllReduce<tl::MaxOp, 256, 64, 0>::run(A[0], A)", [("syncthreads", {}, 4, 16)]),
        ("tl::AllReduce<tl::MaxOp, 32, 1, 0>::run(A[0], A)", []),
        (
            "tl::tcgen05_ld_32dp32bNx<128, false>(0, 0, A)",
            [("tcgen05_wait", {"kind": "ld"}, 1, 4)],
        ),
    ],
)
def test_synchronisation_inside_templates_is_listed(read_body, call, expected):
    """A template that synchronises inside is no site of the text, and still not lost."""
    kernel = read_body(f"for (int i = 0; i < 4; ++i) {{ {call}; }}")
    assert kernel.sites == ()
    found = [(it.op, it.args, it.per_call, it.dynamic) for it in kernel.hidden_syncs]
    assert found == expected


def test_local_lambdas_and_statement_expressions(read_body):
    """A lambda's body counts where it is written; calling it later is unknown, not free."""
    kernel = read_body("auto f = [&] { for (int i = 0; i < 3; ++i) __syncthreads(); }; f();")
    assert [(site.op, site.dynamic) for site in kernel.sites] == [
        ("syncthreads", 3),
        ("unknown:f", 1),
    ]
    votes = "unsigned z = ([&]() -> unsigned { int p = 0; return __match_all_sync(1, 2, &p); }());"
    assert read_body(votes).sites == ()
    assert [s.op for s in read_body("int x = ({ __syncthreads(); 3; });").sites] == ["syncthreads"]


def test_totals_add_sites_and_symbols():
    """Static counts sites, dynamic adds trip counts; equal symbolic terms are one term."""
    (kernel,) = read_cuda(
        "__global__ void k(int K) { __syncthreads();"
        " for (int i = 0; i < K + 1; ++i) { __syncthreads(); __syncthreads(); }"
        " for (int i = 0; i < K; ++i) tl::cp_async_commit(); }"
    )
    totals = sync_totals(kernel.sites)
    assert (totals["syncthreads"].static, totals["syncthreads"].dynamic) == (3, "1 + 2 * (K + 1)")
    assert (totals["cp_async_commit"].static, totals["cp_async_commit"].dynamic) == (1, "K")
    assert sync_totals(()) == {}


def test_every_statement_kind_of_the_grammar_is_decided():
    """A statement kind of a newer grammar must be sorted in here, or it is reported as unknown."""
    grammar = language()
    (statement,) = (i for i in grammar.supertypes if grammar.node_kind_for_id(i) == "statement")
    kinds = {grammar.node_kind_for_id(i) for i in grammar.subtypes(statement)}
    handled = LEAVES | BLOCKS | set(FunctionReader(CudaIndex(parse_cuda(""))).structures)
    # `case` is handled by its switch; the others are not CUDA (or not yet) and are unknown.
    reported = {"expansion_statement", "seh_leave_statement", "seh_try_statement", "try_statement"}
    assert kinds - handled == reported | {"case_statement"}


def test_reported_statements_keep_their_sites(ops):
    """A statement that isn't understood is unknown, and what it contains is still listed."""
    assert ops("try { __syncthreads(); } catch (...) { }") == [
        "unknown:try_statement",
        "syncthreads",
    ]


def test_site_explosion_is_refused():
    """Functions that multiply each other's sites end in an error, not in memory."""
    levels = ["__device__ void f0() { __syncthreads(); }"]
    levels += [f"__device__ void f{i}() {{ {f'f{i - 1}();' * 16} }}" for i in range(1, 6)]
    with pytest.raises(CudaSyntaxError, match="sites in one function"):
        read_cuda("\n".join(levels) + "\n__global__ void k() { f5(); }")


@pytest.mark.parametrize(
    ("given", "op", "args"),
    [
        ("(uint)0", "syncthreads", {}),
        ("(uint)1", "partial_barrier", {"barrier_id": 1}),
        ("n", "partial_barrier", {"barrier_id": "n"}),
    ],
)
def test_a_barrier_whose_number_is_a_parameter(given, op, args):
    """``bar.sync %0`` is all threads' where the caller passes 0, and nobody's word otherwise."""
    source = (
        '__device__ void sync(uint32_t a) { asm volatile("bar.sync %0;" : : "r"(a) : "memory"); }\n'
        f"__global__ void k(int n) {{ sync({given}); }}"
    )
    (kernel,) = read_cuda(source)
    assert [(site.op, site.args) for site in kernel.sites] == [(op, args)]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('asm("barrier.cluster.arrive.aligned;"); asm("barrier.cluster.wait.aligned;");',
         ["cluster_sync"]),
        ('asm("barrier.cluster.wait.aligned;"); asm("barrier.cluster.arrive.aligned;");',
         ["cluster_wait", "cluster_arrive"]),
        ('asm("barrier.cluster.arrive.aligned;"); __syncthreads(); '
         'asm("barrier.cluster.wait.aligned;");',
         ["cluster_arrive", "syncthreads", "cluster_wait"]),
        ('asm("barrier.cluster.arrive.aligned;"); if (n) asm("barrier.cluster.wait.aligned;");',
         ["cluster_arrive", "cluster_wait"]),
    ],
)  # fmt: skip
def test_a_function_that_is_a_cluster_sync(body, found):
    """It arrives and waits, and does nothing else; anything else stays what it is."""
    source = f"__device__ void f(int n) {{ {body} }}\n__global__ void k(int n) {{ f(n); }}"
    (kernel,) = read_cuda(source)
    assert [site.op for site in kernel.sites] == found


def test_a_name_alone_that_is_a_variable():
    """It does nothing; a macro of some header looks the same and has no declaration."""
    source = "__global__ void k() { int warp = 3; warp; lane; }"
    (kernel,) = read_cuda(source)
    assert [site.op for site in kernel.sites] == ["unknown:lane"]
