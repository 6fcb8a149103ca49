//! Asks the processor to fetch memory that is needed soon.
//!
//! A processor that waits for one thing after another spends most of its time waiting when they are not in its cache.
//! [`prefetch`] does not wait. No result depends on it.

/// The cache line where a value begins is fetched, if the processor has such an instruction. Does nothing else.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = core::ptr::from_ref(value).cast::<i8>();
        // SAFETY: the instruction belongs to SSE, which every x86-64 processor has. It is a hint: it reads nothing that
        // the program could see, and does not fault whatever the address is. This one is that of a live value.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::prefetch;

    #[test]
    fn values_stay_as_they_are() {
        let values: Vec<u64> = (0..1000).collect();
        values.iter().for_each(prefetch);
        prefetch(values.as_slice());
        let nothing: &[u8] = &[];
        prefetch(nothing);
        let shown: &dyn std::fmt::Debug = &values;
        prefetch(shown);
        assert!(values.into_iter().eq(0..1000));
    }
}
