import { hostile } from '../hostile.ts'

/** The neighbour has left marks in all of these places of its own isolate. */
export default hostile({
  body: `
    const globals = (0, eval)('this')
    const places = [globals, Object.prototype, Function.prototype, Array.prototype, Promise, JSON, console, Error]
    const traces = places.flatMap((place) => Object.getOwnPropertySymbols(place).map(String)).filter((name) => name.includes('neighbour'))
    const key = Symbol.for(['the', 'secret', 'of', 'the', 'neighbour'].join(' '))
    await say(traces.length)
    await say(places.map((place) => typeof place[key]).join())
    globals[key] = 'its own'
    await say(typeof globals[key])`,
  outcome: 'done',
  replies: ['0', 'undefined,undefined,undefined,undefined,undefined,undefined,undefined,undefined', 'string'],
})
