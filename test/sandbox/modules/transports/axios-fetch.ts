import axios from 'axios'
import { casesOf } from './axios.ts'

/** It chooses `fetch` by itself, because nothing in this bundle relies on streams of Node. */
export const client = casesOf(axios)
