import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take more than half a minute, longest first. Vitest starts large files first on a machine without results
 * of an earlier run, and these are long without being large: started last, one of them runs alone for minutes. The tests
 * of recovery are long too, but have deadlines, and do not start beside the others.
 */
const longest = [
  'test/cli/start/start-ends.test.ts',
  'test/shared/operations/admin/published-cli.test.ts',
  'test/sandbox/hostile/exhaustion.test.ts',
  'test/docs/examples.test.ts',
  'test/sandbox/hostile/escapes.test.ts',
  'test/cli/start/start.test.ts',
  'test/sandbox/hostile/forgery.test.ts',
  'test/chaos.test.ts',
  'test/fuzz.test.ts',
]

/** Starts the longest files first, so that all workers end at about the same time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- The sequencer's method, which returns a new array.
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((path) => moduleId.endsWith(path))
  return index < 0 ? longest.length : index
}
