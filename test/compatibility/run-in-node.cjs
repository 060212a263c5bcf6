'use strict'
// Runs a wrapped test in Node and prints its answer.
process.on('uncaughtException', (error) => end({ problem: { text: `uncaught ${error.stack}` } }))
process.on('unhandledRejection', (error) => end({ problem: { text: `unhandled ${error?.stack ?? error}` } }))
const write = process.stdout.write.bind(process.stdout)
function end(told) {
  write(`\n${JSON.stringify(told)}\n`, () => process.reallyExit(0))
}
require(process.argv[2])
  .handler()
  .then(({ body }) => end(JSON.parse(body)))
