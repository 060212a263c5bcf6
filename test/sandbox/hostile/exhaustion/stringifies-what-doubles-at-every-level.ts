import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `let tree = [1]; for (let n = 0; n < 60; n++) tree = [tree, tree]; JSON.stringify(tree)`,
  ...outOfTime,
})
