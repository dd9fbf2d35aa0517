/** The embedded store keeps what every store must keep. */
import { sqliteFile, sqliteMemory } from './sqlite-targets.ts'
import { storeConformance } from './suite.ts'

storeConformance(sqliteFile)
storeConformance(sqliteMemory)
