import { createQueryString } from '../querystring.ts'

/** Stands for the package `qs` in the package `url`: it reads brackets in names as lists and objects, which Node does not. */
export const { parse, stringify } = createQueryString()
