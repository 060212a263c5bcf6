import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    return {
      then(resolve, reject) {
        resolve({ stop: false })
        reject(new Error('after all'))
        resolve({ then() { throw new Error('nested') } })
        setTimeout(() => reject(new Error('later')), 1)
        throw new Error('thrown')
      },
    }`,
  outcome: 'done',
  replies: [],
})
