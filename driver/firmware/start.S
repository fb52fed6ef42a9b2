/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where PicoRV32 starts (0) and takes interrupts (0x10). Its interrupts are its own: the return
 * address is in q0, the lines that called are in q1, and custom instructions reach both. They do not
 * nest, so one stack serves all; a handler written in C saves its own registers, we the others.
 */
    .macro getq rd, qs /* qs: register number, 0 to 3 */
    .insn r 0x0b, 4, 0, \rd, \qs, x0
    .endm
    .macro retirq
    .insn r 0x0b, 0, 2, x0, x0, x0
    .endm
    .macro maskirq rd, rs
    .insn r 0x0b, 6, 3, \rd, \rs, x0
    .endm
    .macro waitirq rd
    .insn r 0x0b, 4, 4, \rd, x0, x0
    .endm

    .section .start, "ax"
    .globl _start
_start:
    j reset

    .balign 16
    addi sp, sp, -64
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw t3, 16(sp)
    sw t4, 20(sp)
    sw t5, 24(sp)
    sw t6, 28(sp)
    sw a0, 32(sp)
    sw a1, 36(sp)
    sw a2, 40(sp)
    sw a3, 44(sp)
    sw a4, 48(sp)
    sw a5, 52(sp)
    sw a6, 56(sp)
    sw a7, 60(sp)
    getq a0, x1
    call soc_interrupt
    lw ra, 0(sp)
    lw t0, 4(sp)
    lw t1, 8(sp)
    lw t2, 12(sp)
    lw t3, 16(sp)
    lw t4, 20(sp)
    lw t5, 24(sp)
    lw t6, 28(sp)
    lw a0, 32(sp)
    lw a1, 36(sp)
    lw a2, 40(sp)
    lw a3, 44(sp)
    lw a4, 48(sp)
    lw a5, 52(sp)
    lw a6, 56(sp)
    lw a7, 60(sp)
    addi sp, sp, 64
    retirq

reset:
    la sp, soc_stack_top
    la t0, soc_zero_begin
    la t1, soc_zero_end
1:  bgeu t0, t1, 2f
    sw x0, 0(t0)
    addi t0, t0, 4
    j 1b
2:  call main
    call soc_finish
3:  j 3b /* main is over */

    .text
/* uint32_t soc_interrupt_mask(uint32_t mask): lines not to be heard; the mask until now. */
    .globl soc_interrupt_mask
soc_interrupt_mask:
    maskirq a0, a0
    ret

/* uint32_t soc_interrupt_wait(void): sleeps until a line calls, heard or not; the lines. */
    .globl soc_interrupt_wait
soc_interrupt_wait:
    waitirq a0
    ret
