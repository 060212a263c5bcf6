import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    debugger
    new Function('debugger')()
    eval('debugger')
    await (async () => { debugger })()
    console.profile?.()
    await say('went on')`,
  outcome: 'done',
  replies: ['went on'],
})
