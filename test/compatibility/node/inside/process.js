import { shadow } from './common.cjs'

export { shadow as process }
