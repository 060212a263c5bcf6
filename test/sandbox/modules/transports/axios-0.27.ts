import axios from 'axios-0.27'
import type { Axios } from './axios.ts'
import { casesWithStreams } from './axios-streams.ts'

// Its declarations are those of an ES module, which it is not.
export const client = casesWithStreams(axios as unknown as Axios)
