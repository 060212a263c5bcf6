import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['./test/support/services.ts'],
    setupFiles: ['./test/support/end-with-run.ts'],
    pool: 'forks',
    // Loading the modules of both processes anew took almost two seconds of processor time for each file. None leaves a
    // module, or its process, otherwise than it found it; each has a database, ports and a sandbox of its own.
    isolate: false,
    // The next process that a test starts has the code that Node has compiled, and stripped of types, for the one before.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'node-compile') },
    sequence: { sequencer: LongestFirst },
    // Files wait a part of the time, for deadlines that they test and for processes that start. On two idle processors of an
    // AMD EPYC the suite took 1566 s with two files at once, 1316 s with three, and 1201 s with four, which leave no processor
    // idle. Hostile code then reaches its limit of time before that of processor time on a slower machine.
    maxWorkers: availableParallelism() + 1,
    // Tests that kill, stop and start processes race with whatever else the machine does. A test that fails twice is
    // wrong; one that passes at its second attempt is named at the end of the run.
    retry: 1,
    reporters: ['default', './test/support/retried-tests.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // By default one second, which a loaded machine exceeds. An outcome that comes ends the wait at once.
    expect: { poll: { timeout: 20_000, interval: 20 } },
  },
})
