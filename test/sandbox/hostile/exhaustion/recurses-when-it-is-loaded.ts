import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    const deeper = () => deeper() + 1
    deeper()
    export const hooks = {}`,
  outcome: 'refused',
  failure: /Maximum call stack/,
})
