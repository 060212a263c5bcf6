import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const ways = [
      () => new Function('return import("node:fs")')(),
      () => (0, eval)('import("node:fs")'),
      () => Object.getPrototypeOf(async () => {}).constructor('return await import("node:fs")')(),
      () => eval('import.meta'),
      () => new Function('return import.meta')(),
      () => (0, eval)('import fs from "node:fs"'),
    ]
    for (const way of ways) {
      try { await say('imported ' + (await way())) } catch (error) { await say(error instanceof Error) }
    }`,
  outcome: 'done',
  replies: ['true', 'true', 'true', 'true', 'true', 'true'],
})
