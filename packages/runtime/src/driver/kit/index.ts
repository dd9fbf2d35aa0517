/** Public index of `wheelhouse/driver-kit`: a driver to test hosts with, and a suite to test drivers with. */
export { createScriptedDriver, type ScriptedDriver, type ScriptedDriverOptions } from './scripted-driver.ts'
export { driverConformance } from './conformance/suite.ts'
export type { DriverPrompts, DriverTarget, HeldPrompt, OpenedTarget } from './conformance/target.ts'
