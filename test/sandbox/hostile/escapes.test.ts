import { runIdeas } from './run-ideas.ts'

// None of these is about time: on a busy machine, they are not to end for the lack of it.
await runIdeas('escapes', { cpuMilliseconds: 2000 })
