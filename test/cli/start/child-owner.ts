import { startChild } from '../../../cli/start/children.ts'

// A process that starts a child with the given source, and ends when the child does or when it is killed itself.
const child = await startChild('child', [
  process.execPath,
  '--input-type=module-typescript',
  '--eval',
  process.argv[2]!,
])
await child.exited
