/**
 * Preloaded into the measured processes, with `--expose-gc`: on SIGUSR2, a process releases all memory that it does not
 * need, so that the rest is what its streams hold. An ordinary collection keeps the heap at its peak size.
 */
process.on('SIGUSR2', () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }))
