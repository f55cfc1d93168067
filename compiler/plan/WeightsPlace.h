// Has the words for the places where weights may be (--weights).
#pragma once
#include "compiler/plan/Model.h"
#include "compiler/support/Words.h"

namespace ingot::plan {

inline constexpr support::Word<WeightsPlace> weightsPlaceWords[] = {
    {WeightsPlace::Embed, "embed", "in the object"},
    {WeightsPlace::File, "file", "in NAME.weights, which the support library maps"},
    {WeightsPlace::Extern, "extern", "in NAME.weights, whose address the program passes"},
    {WeightsPlace::Stream, "stream",
     "in NAME.weights, which a run reads piece by piece through a function of the program's"}};
inline llvm::ArrayRef<support::Word<WeightsPlace>> wordsOf(WeightsPlace) { return weightsPlaceWords; }

} // namespace ingot::plan
