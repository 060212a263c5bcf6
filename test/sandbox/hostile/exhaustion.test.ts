import { runIdeas } from './run-ideas.ts'

await runIdeas('exhaustion')
