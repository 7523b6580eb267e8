console.log('STRAY from a forked child')
process.disconnect?.()
