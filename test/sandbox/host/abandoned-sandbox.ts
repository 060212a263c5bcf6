/** A program of its own: opens a sandbox in which a bot loops, says so, and waits to be killed. */

import { openSandbox } from '#sandbox/open-sandbox.ts'

const limits = {
  memoryMegabytes: 64,
  cpuMilliseconds: 600_000,
  wallMilliseconds: 600_000,
  loadMilliseconds: 10_000,
  hostCalls: 1,
  hostCallsAtOnce: 1,
  fetches: 5,
  fetchesAtOnce: 2,
  connectionsAtOnce: 3,
  fetchCharacters: 100_000,
  hostCallCharacters: 1000,
  resultCharacters: 1000,
  logLines: 1,
  logCharacters: 1000,
  timers: 1,
}

let pid = 0
const sandbox = await openSandbox({
  processes: 1,
  operations: [{ name: 'sayLooping', method: 'POST', path: '/looping' }],
  hooks: ['loop'],
  log: (_level, _message, details) => {
    pid = (details as { sandboxPid: number }).sandboxPid
  },
})
await sandbox.run({
  id: 'run',
  bundle: {
    id: 'bundle',
    botId: 'bot',
    code: `exports.hooks = { loop({ client }) { client.sayLooping(); for (;;); } }`,
  },
  task: { kind: 'event', event: {}, stages: ['loop'], streamPrefix: '' },
  limits,
  host: async () => {
    process.stdout.write(`${pid}\n`)
    return { status: 200, body: {} }
  },
})
