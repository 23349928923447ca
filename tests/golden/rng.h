// SPDX-License-Identifier: Apache-2.0
// Made by make_rng.py with PyTorch 2.15.0+cu132. Floats in hexadecimal: every bit counts.
#ifndef TERN_TESTS_GOLDEN_RNG_H
#define TERN_TESTS_GOLDEN_RNG_H

#include <stdint.h>

// clang-format off
static const float rand_seed_0[8] = {
    0x1.a3e2220000000p-1, 0x1.aff3100000000p-2, 0x1.de29e00000000p-3, 0x1.9c2d320000000p-1,
    0x1.11291c0000000p-1, 0x1.0a06da0000000p-1, 0x1.647cf40000000p-2, 0x1.c0e16a0000000p-1};
static const double rand_f64_after_it[8] = {
    0x1.446f6d692ab4dp-1, 0x1.7e6ae20355774p-2, 0x1.8aa79f4539db0p-1, 0x1.16d9b2622276bp-1,
    0x1.c2649f345f500p-7, 0x1.0b0de23e2ac98p-2, 0x1.44618265a4f05p-1, 0x1.4342292f1404cp-1};
static const float rand_seed_2_40_plus_5[4] = {
    0x1.a916c60000000p-1, 0x1.0246700000000p-3, 0x1.d09fde0000000p-1, 0x1.a3cd7a0000000p-1};
static const float rand_seed_2_64_minus_1[4] = {
    0x1.fcd3460000000p-1, 0x1.2482440000000p-1, 0x1.23d8180000000p-1, 0x1.9588e00000000p-5};
static const float uniform_7[24] = {
    0x1.5e1ce20000000p-2, -0x1.f749020000000p-5, 0x1.f6d6e00000000p-2, 0x1.f3fc9e0000000p-2,
    -0x1.52ebe80000000p-6, 0x1.ae3b1e0000000p-3, -0x1.a5dc8e0000000p-5, 0x1.d29ebc0000000p-2,
    0x1.1b66a80000000p-3, 0x1.716b560000000p-1, 0x1.73ad560000000p-1, 0x1.71ca080000000p-2,
    0x1.6a24680000000p-5, -0x1.ad65da0000000p-5, 0x1.df74220000000p-3, 0x1.0c94c80000000p-3,
    0x1.2100720000000p-1, -0x1.b2de1a0000000p-3, 0x1.ba51920000000p-1, -0x1.5d80fa0000000p-3,
    0x1.84d70a0000000p-1, 0x1.9103680000000p-3, 0x1.379ecc0000000p-1, 0x1.1150780000000p-1};
static const double uniform_f64_after_it[24] = {
    -0x1.853083ea4e000p-6, -0x1.0e8ce16238578p-5, -0x1.ba2555206e484p-6, 0x1.96b9abaadd640p-6,
    -0x1.1cd842d105cdcp-5, 0x1.073bda23d35f7p-5, -0x1.c87c88aec22f0p-6, 0x1.20d6200392080p-5,
    0x1.f06d0952641b0p-6, 0x1.ab64b16b34bbbp-6, 0x1.77349f0434cbbp-7, -0x1.c2e97d04b8876p-7,
    0x1.ce2546dca3b44p-6, 0x1.0e5cc74576c34p-6, 0x1.06b4d02d2bc4cp-5, 0x1.8d2ee8807fe74p-6,
    -0x1.a6548b36e46d9p-6, 0x1.0be926689e65bp-5, 0x1.21abfaeb88b5bp-9, -0x1.e184e98e55309p-6,
    0x1.50acd7dcdc480p-7, 0x1.fd38f4f0072b2p-7, -0x1.6e4634eaf3bd6p-7, -0x1.03c69c6820bb7p-5};
static const float bernoulli_3[40] = {
    0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x0.0p+0, 0x1.0000000000000p+0, 0x0.0p+0,
    0x0.0p+0, 0x1.0000000000000p+0, 0x0.0p+0, 0x0.0p+0, 0x0.0p+0, 0x1.0000000000000p+0,
    0x0.0p+0, 0x0.0p+0, 0x1.0000000000000p+0, 0x0.0p+0, 0x1.0000000000000p+0,
    0x1.0000000000000p+0, 0x0.0p+0, 0x0.0p+0, 0x1.0000000000000p+0, 0x0.0p+0, 0x0.0p+0,
    0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x0.0p+0, 0x1.0000000000000p+0, 0x0.0p+0,
    0x0.0p+0, 0x0.0p+0, 0x0.0p+0, 0x0.0p+0, 0x1.0000000000000p+0, 0x1.0000000000000p+0,
    0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x0.0p+0, 0x1.0000000000000p+0, 0x0.0p+0,
    0x0.0p+0, 0x0.0p+0};
static const int64_t randint_3_17[16] = {
    INT64_C(7), INT64_C(15), INT64_C(15), INT64_C(14), INT64_C(7), INT64_C(13), INT64_C(6),
    INT64_C(13), INT64_C(16), INT64_C(10), INT64_C(9), INT64_C(3), INT64_C(4), INT64_C(7),
    INT64_C(5), INT64_C(8)};
static const int64_t randint_32_bits_less_1[4] = {
    INT64_C(2061350253), INT64_C(3608430332), INT64_C(2072258233), INT64_C(1084523325)};
static const int64_t randint_32_bits[4] = {
    INT64_C(3155332283), INT64_C(4157116362), INT64_C(3013127645), INT64_C(581646570)};
static const int64_t randint_wide[4] = {
    INT64_C(7341935551564569208), INT64_C(3078742564558870802), INT64_C(882451361765330616),
    INT64_C(3734126763983015864)};
static const int64_t random63[4] = {
    INT64_C(7129245367277339019), INT64_C(3586760473017273619), INT64_C(5992802256363896439),
    INT64_C(8590067125091581648)};
static const int64_t randperm_50[50] = {
    INT64_C(42), INT64_C(5), INT64_C(17), INT64_C(44), INT64_C(29), INT64_C(45), INT64_C(24),
    INT64_C(36), INT64_C(35), INT64_C(21), INT64_C(30), INT64_C(15), INT64_C(46), INT64_C(12),
    INT64_C(7), INT64_C(31), INT64_C(6), INT64_C(20), INT64_C(39), INT64_C(14), INT64_C(13),
    INT64_C(1), INT64_C(0), INT64_C(34), INT64_C(22), INT64_C(9), INT64_C(2), INT64_C(40),
    INT64_C(25), INT64_C(33), INT64_C(26), INT64_C(18), INT64_C(38), INT64_C(48), INT64_C(32),
    INT64_C(28), INT64_C(4), INT64_C(10), INT64_C(47), INT64_C(11), INT64_C(49), INT64_C(23),
    INT64_C(37), INT64_C(8), INT64_C(43), INT64_C(41), INT64_C(27), INT64_C(19), INT64_C(16),
    INT64_C(3)};
static const int64_t randint_2_28_less_1[4] = {
    INT64_C(91571474), INT64_C(209427582), INT64_C(89128929), INT64_C(245199379)};
static const int64_t randint_2_28[4] = {
    INT64_C(23686510), INT64_C(83371161), INT64_C(89428698), INT64_C(108111770)};
static const float uniform_to_the_end[24] = {
    0x1.0000020000000p+24, 0x1.0000000000000p+24, 0x1.0000020000000p+24, 0x1.fffffa0000000p+23,
    0x1.fffffe0000000p+23, 0x1.0000000000000p+24, 0x1.0000020000000p+24, 0x1.0000000000000p+24,
    0x1.0000000000000p+24, 0x1.fffffa0000000p+23, 0x1.fffffa0000000p+23, 0x1.fffffa0000000p+23,
    0x1.fffffa0000000p+23, 0x1.fffffa0000000p+23, 0x1.fffffc0000000p+23, 0x1.fffffa0000000p+23,
    0x1.fffffa0000000p+23, 0x1.0000020000000p+24, 0x1.0000020000000p+24, 0x1.0000020000000p+24,
    0x1.0000020000000p+24, 0x1.0000020000000p+24, 0x1.0000020000000p+24, 0x1.fffffe0000000p+23};
static const double uniform_f64_to_the_end[24] = {
    0x1.0000000000001p+53, 0x1.0000000000000p+53, 0x1.ffffffffffffep+52, 0x1.ffffffffffffep+52,
    0x1.0000000000001p+53, 0x1.0000000000001p+53, 0x1.ffffffffffffdp+52, 0x1.ffffffffffffdp+52,
    0x1.ffffffffffffep+52, 0x1.ffffffffffffdp+52, 0x1.ffffffffffffdp+52, 0x1.ffffffffffffdp+52,
    0x1.ffffffffffffep+52, 0x1.fffffffffffffp+52, 0x1.ffffffffffffdp+52, 0x1.0000000000001p+53,
    0x1.fffffffffffffp+52, 0x1.0000000000001p+53, 0x1.0000000000000p+53, 0x1.ffffffffffffep+52,
    0x1.ffffffffffffdp+52, 0x1.0000000000001p+53, 0x1.0000000000000p+53, 0x1.ffffffffffffdp+52};
static const float normal_first_5[5] = {
    0x1.79aa920000000p-1, 0x1.f2286a0000000p+0, -0x1.662a520000000p-1, -0x1.4d635c0000000p+0,
    -0x1.06ca4e0000000p-1};
static const double normal_next_4_f64[4] = {
    -0x1.141726d17031bp-2, 0x1.f82faac907290p-3, 0x1.ef8a1ce3ffa86p-2, 0x1.cd3a52df83ebdp-2};
static const float normal_scaled_3[3] = {
    -0x1.bdb2360000000p-1, 0x1.a03a620000000p+2, 0x1.0f2ce80000000p+0};
static const float normal_16[16] = {
    0x1.30e7240000000p-4, -0x1.796ff20000000p-3, 0x1.9792220000000p-1, 0x1.eb20c20000000p-1,
    0x1.8e7a060000000p-1, 0x1.ee23000000000p-2, -0x1.d440520000000p+0, -0x1.1a579c0000000p-1,
    0x1.e9493a0000000p+0, 0x1.310dc40000000p-2, -0x1.6882ce0000000p-1, 0x1.fe426e0000000p-2,
    -0x1.8fdfcc0000000p-5, 0x1.533d260000000p+0, 0x1.d9174a0000000p-1, 0x1.cde15a0000000p-3};
static const float normal_after_16[2] = {
    -0x1.726ff40000000p+0, 0x1.31ae8a0000000p+0};
static const float normal_40[40] = {
    -0x1.e201580000000p-1, 0x1.4364240000000p+0, -0x1.785c160000000p-3, 0x1.343c340000000p-3,
    0x1.b854420000000p-4, -0x1.1cb4820000000p-2, -0x1.4d12c40000000p+1, 0x1.3fb8e40000000p-1,
    -0x1.bc9a100000000p-1, -0x1.a3f4060000000p-3, 0x1.971a2c0000000p-2, 0x1.57008a0000000p-1,
    -0x1.b7f7b40000000p-5, 0x1.7e87060000000p-5, -0x1.c461900000000p+0, -0x1.0f6b380000000p+1,
    0x1.84e38a0000000p+0, -0x1.561e0e0000000p-1, 0x1.9366ca0000000p-9, -0x1.3a77460000000p-3,
    0x1.23bdda0000000p+0, -0x1.d76c840000000p-3, 0x1.300f3e0000000p+0, 0x1.8914a00000000p-1,
    -0x1.6890820000000p-1, 0x1.019c2a0000000p+1, 0x1.d2f31c0000000p-1, 0x1.1beddc0000000p-2,
    0x1.aab73c0000000p-3, 0x1.1e01a60000000p+1, 0x1.b6eeb80000000p+0, -0x1.9519ae0000000p-2,
    0x1.463df20000000p+0, -0x1.7fc0f20000000p-3, 0x1.168c200000000p+1, -0x1.25c8ca0000000p-1,
    -0x1.9dfeb40000000p-1, 0x1.2801640000000p-2, 0x1.3651180000000p-7, -0x1.5b625e0000000p-1};
static const float normal_scaled_33[33] = {
    -0x1.07fb520000000p+0, -0x1.f722e00000000p-1, -0x1.0221300000000p+0, -0x1.f4e7680000000p-1,
    -0x1.02dc560000000p+0, -0x1.08732e0000000p+0, -0x1.00e2d20000000p+0, -0x1.ee4d920000000p-1,
    -0x1.02d42c0000000p+0, -0x1.0b6f140000000p+0, -0x1.0638980000000p+0, -0x1.efded40000000p-1,
    -0x1.0017e60000000p+0, -0x1.038be20000000p+0, -0x1.006e060000000p+0, -0x1.f8b4b20000000p-1,
    -0x1.0307920000000p+0, -0x1.000a2c0000000p+0, -0x1.f148da0000000p-1, -0x1.f4e24e0000000p-1,
    -0x1.ffceb20000000p-1, -0x1.ee3c300000000p-1, -0x1.ed1f1a0000000p-1, -0x1.040ef00000000p+0,
    -0x1.ffa01c0000000p-1, -0x1.013adc0000000p+0, -0x1.00d2600000000p+0, -0x1.f343040000000p-1,
    -0x1.edff9a0000000p-1, -0x1.044f4c0000000p+0, -0x1.07c1d60000000p+0, -0x1.fd7c2a0000000p-1,
    -0x1.fe57e60000000p-1};
static const double normal_f64_40[40] = {
    0x1.f215198ef5c5fp-1, -0x1.e0ebdcafdf1dbp-1, 0x1.081be82176dcep-2, 0x1.6f9ade0ec0a4ep-2,
    0x1.2a9b311986f13p+0, -0x1.2c169f040729ep+0, 0x1.83ead671f764ap-1, 0x1.21aff00c4bc3ap-1,
    -0x1.4d7c49949db77p+0, -0x1.d23e8c5a32aafp-2, -0x1.5cfdd8c59ce7dp-3, 0x1.c0b7213681b1bp-3,
    0x1.6dcaf22e2933bp-1, -0x1.8d5b4de4f5da4p-4, 0x1.222bafbd7afa1p+0, -0x1.d6fe2e938e787p+0,
    0x1.2ee9f390888f5p-1, -0x1.32c9796bdad83p+0, 0x1.091a25f44ed2ap-1, -0x1.138edb0b0ea77p-2,
    -0x1.6d1c52ba9d096p-1, 0x1.9893b716d948cp-4, -0x1.4f71445411cdcp-3, -0x1.77dd8606a150bp-1,
    -0x1.9936135396ea6p-1, -0x1.944fb35465678p-1, 0x1.f9c829aed26b3p-1, 0x1.538afdc852e71p-5,
    0x1.643fede2ef032p+0, -0x1.d820ca1cde8dcp-3, -0x1.5e3a1ccdfd80fp-6, -0x1.9c1bb9c73d862p-3,
    0x1.a702e133171b1p-2, 0x1.b4d997f73b25ep-2, 0x1.d308a38cb4244p-3, -0x1.d0e01a3d22e2fp+0,
    -0x1.c5cbf863c1bd6p-5, -0x1.b8f2e7c57e712p-2, 0x1.28b84136db577p+1, 0x1.af6ad888d46a1p-4};
static const double normal_f64_scaled_17[17] = {
    0x1.7b629a34678a4p+2, 0x1.5f0bd27fe9eedp+2, 0x1.33d0499509d47p+2, 0x1.1bef85fe68510p+2,
    0x1.4804d70b7325fp+2, 0x1.2908b6a878f02p+2, 0x1.37bf08375020bp+2, 0x1.94b50b25c1795p+2,
    0x1.50afffd8a5479p+2, 0x1.37d67d72dff0cp+2, 0x1.3833d20be00f2p+2, 0x1.265f9bdf7219dp+2,
    0x1.51589b356867ap+2, 0x1.3aa6a106f2a41p+2, 0x1.1f5deb30330fcp+2, 0x1.1229a70c5ea9dp+2,
    0x1.3896c3d449604p+2};
static const int64_t loader_order_seed_0[10] = {
    INT64_C(6), INT64_C(7), INT64_C(1), INT64_C(4), INT64_C(2), INT64_C(0), INT64_C(9),
    INT64_C(8), INT64_C(3), INT64_C(5)};
// clang-format on

#endif
