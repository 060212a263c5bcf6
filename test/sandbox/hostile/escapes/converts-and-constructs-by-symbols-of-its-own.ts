import { hostile } from '../hostile.ts'
import { spying } from '../spying.ts'

export default hostile({
  before: spying,
  body: `
    const symbols = ['toPrimitive', 'species', 'isConcatSpreadable', 'hasInstance', 'unscopables', 'match', 'matchAll', 'replace', 'search', 'split', 'dispose', 'asyncDispose']
    const places = [Object.prototype, Function.prototype, Array.prototype, Promise.prototype, Array, Promise, Map, Error.prototype]
    const kept = []
    for (const name of symbols) {
      const symbol = Symbol[name]
      for (const place of places) {
        const before = Object.getOwnPropertyDescriptor(place, symbol)
        if (before && !before.configurable) continue
        kept.push([place, symbol, before])
        Object.defineProperty(place, symbol, { configurable: true, get() { look(this); return undefined } })
      }
    }
    void [].concat([])
    await work({ event, client, state, logger })
    for (const [place, symbol, before] of kept) {
      if (before) Object.defineProperty(place, symbol, before)
      else delete place[symbol]
    }
    await say(looks > 0)
    await say(caught)`,
  outcome: 'done',
  replies: ['true', 'nothing'],
})
