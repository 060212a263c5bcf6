/**
 * Preloaded into the processes that are measured, with `--expose-gc`: has them give back all memory that they do not
 * need when they get SIGUSR2, so that what remains is what their streams hold. An ordinary collection keeps the heap as
 * large as the busiest moment made it.
 */
process.on('SIGUSR2', () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }))
