import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (let n = 0; n < 2e4; n++) state.user['key' + n] = n`,
  outcome: 'result',
  failure: /event\.state\.user has \d+ KB, more than its maximum of 128 KB$/,
})
