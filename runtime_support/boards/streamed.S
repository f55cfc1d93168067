// The weights of a model that streams them, for program.c. STREAMED_WEIGHTS is the path of their file, in quotes.
.section .rodata.streamed_weights,"a",%progbits
.globl streamed_weights
.balign 16
streamed_weights:
.incbin STREAMED_WEIGHTS
