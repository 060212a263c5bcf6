import axios from 'axios-1.6'
import { casesWithStreams } from './axios-streams.ts'

export const client = casesWithStreams(axios)
