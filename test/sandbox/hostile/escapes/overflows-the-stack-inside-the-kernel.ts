import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const kinds = new Set()
    const deep = (work) => {
      let tries = 0
      const dive = () => {
        try { dive() } catch (error) {
          if (tries++ > 200) return
          try { work() } catch (error) { kinds.add(error.constructor === RangeError && RangeError.constructor === Function) }
          throw error
        }
      }
      dive()
    }
    deep(() => logger.info('deep'))
    deep(() => console.log('%s', { get message() { return 'x' } }))
    deep(() => clearTimeout(setTimeout(() => {}, 1000)))
    deep(() => client.getUser)
    deep(() => queueMicrotask(() => {}))
    await say([...kinds].join() || 'none')`,
  outcome: 'done',
  replies: ['true'],
})
