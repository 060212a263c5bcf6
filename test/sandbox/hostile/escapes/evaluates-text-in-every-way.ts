import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const text = 'typeof process + typeof require + typeof module'
    const ways = [() => (0, eval)(text), () => eval('typeof process + typeof global + typeof Deno'), () => new Function('return ' + text)(),
      () => Reflect.construct(Function, ['return ' + text])(), () => setTimeout(text, 1), () => queueMicrotask(text)]
    for (const way of ways) {
      try { await say(way()) } catch (error) { await say(error.name) }
    }`,
  outcome: 'done',
  replies: [
    'undefinedundefinedundefined',
    'undefinedundefinedundefined',
    'undefinedundefinedundefined',
    'undefinedundefinedundefined',
    'TypeError',
    'TypeError',
  ],
})
