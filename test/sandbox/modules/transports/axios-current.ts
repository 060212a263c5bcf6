import axios from 'axios'
import { casesWithStreams } from './axios-streams.ts'

export const client = casesWithStreams(axios)
