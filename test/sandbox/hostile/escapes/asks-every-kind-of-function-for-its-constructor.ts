import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const kinds = [function () {}, async function () {}, function* () {}, async function* () {}, class {}, () => {}]
    const answers = []
    for (const kind of kinds) {
      const made = Object.getPrototypeOf(kind).constructor('return [typeof process, typeof require, this === globalThis].join()')()
      const value = typeof made.next === 'function' ? (await made.next()).value : await made
      answers.push(value)
    }
    await say([...new Set(answers)].join(' | '))`,
  outcome: 'done',
  replies: ['undefined,undefined,true'],
})
