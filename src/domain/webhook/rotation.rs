//! Rotation of signing secrets: until when an old one signs along with the one that took its place.

use chrono::TimeDelta;

use super::signing::MOST_SECRETS;
use crate::domain::secret::Secret;
use crate::domain::time::Timestamp;

/// Rotation: until when each of the known secrets (newest first, each with its end) signs along once another one signs;
/// `None` where it signs no more and is erased. Nothing at all where the other one is the newest already.
pub fn rotate(
    known: &[(Secret, Option<Timestamp>)],
    secret: &Secret,
    overlap: TimeDelta,
    now: Timestamp,
) -> Option<Vec<Option<Timestamp>>> {
    if known.first().is_some_and(|(newest, _)| newest == secret) {
        return None;
    }
    let end = now.checked_add_signed(overlap).unwrap_or(Timestamp::MAX_UTC);
    let mut signing = 1;
    let along = |(old, ends_at): &(Secret, Option<Timestamp>)| {
        let until = ends_at.map_or(end, |known| known.min(end));
        let kept = signs_at(Some(until), now) && old != secret && signing < MOST_SECRETS;
        signing += usize::from(kept);
        kept.then_some(until)
    };
    Some(known.iter().map(along).collect())
}

/// Whether a secret signs at a moment that ends then, or never.
pub fn signs_at(ends_at: Option<Timestamp>, now: Timestamp) -> bool {
    ends_at.is_none_or(|end| end > now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_secrets_sign_along_until_their_end_and_two_of_them_at_most() {
        let (now, hour) = (Timestamp::UNIX_EPOCH, TimeDelta::hours(1));
        let [a, b, c, d, other] = ["a", "b", "c", "d", "other"].map(Secret::new);
        let known = [(a.clone(), None), (b.clone(), Some(now + hour)), (c, Some(now + hour)), (d, Some(now))];

        assert_eq!(rotate(&known, &a, hour, now), None, "it is the newest already");
        assert_eq!(
            rotate(&known, &other, hour * 2, now),
            Some(vec![Some(now + hour * 2), Some(now + hour), None, None])
        );
        assert_eq!(rotate(&known, &other, TimeDelta::zero(), now), Some(vec![None; 4]));
        assert_eq!(
            rotate(&known, &b, hour, now),
            Some(vec![Some(now + hour), None, Some(now + hour), None]),
            "it is not kept twice"
        );
    }
}
